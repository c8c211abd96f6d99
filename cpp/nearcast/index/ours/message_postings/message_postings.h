/// Our own message index: lists of the places of messages, by keyword and by cell of space.
///
/// The list of a subscription's rarest keyword is usually short, and a scan drops what is outside
/// the window, eight postings per step, before any message is read. The list of a keyword that many
/// messages have is split by 16 × 16 cells, of which a window covers few. A clause without keywords
/// is served by a grid, and so is one whose rarest keyword has more postings in the window's cells
/// than the grid has. Boxes are in lists of their own, with two corners.
///
/// Postings are places in the cells of a frame that is finer where there are more messages
/// (index/ours/sized_lists/frame.h). Its map is monotone: a window in cells loses nothing. The
/// frame is chosen from a sample of the live messages when there are some, and once more when there
/// are many. Then the index drops all messages and takes them in again a few at a time, so that no
/// insert pays for the others.
///
/// A posting is stale if its slot is empty or holds a message at another place. A stale posting
/// that neither test finds may be proposed: the caller verifies and removes duplicates.
#pragma once

#include <utility>

#include "nearcast/base/visit_stamps.h"
#include "nearcast/index/message_index.h"
#include "nearcast/index/ours/message_postings/place_lists.h"

namespace nearcast {

class MessagePostings final : public MessageIndex {
 public:
  /// Lists of more than `split_at` points are split.
  explicit MessagePostings(const MessageStore& messages,
                           postings::Scan scan = postings::best_scan(),
                           std::uint32_t split_at = 4096);

  void insert(MessageId id) override;
  void erase(MessageId id) override;
  bool wants_all() override { return std::exchange(wants_all_, false); }
  void propose(const Clause& clause, std::span<const Rect> windows,
               std::vector<MessageId>& out) const override;

  /// Appends the live messages with this token, or, without one, all whose place touches a window.
  void propose_by_token(Token token, std::span<const Rect> windows,
                        std::vector<MessageId>& out) const;
  void propose_by_place(std::span<const Rect> windows, std::vector<MessageId>& out) const;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

 private:
  // A grid of 64 × 64 equal shares of the frame's cells, and coarser ones above it: a point is
  // listed in the finest, a box in the finest whose one cell holds it all.
  static constexpr std::uint32_t kFinest = 6;
  static constexpr std::size_t kFirstFit = 512, kSecondFit = 16384, kSample = 2048;
  static constexpr postings::Corner kGone = 0xFFFFFFFFu;  ///< no place has these cells

  struct Windows {
    postings::CellBox box[2];
    std::size_t count = 0;
    std::span<const postings::CellBox> view() const { return {box, count}; }
  };

  Windows cells_of(std::span<const Rect> windows) const;
  postings::CellBox cells_of(const Place& place) const;
  static std::size_t grid_key(std::uint32_t level, std::uint32_t x, std::uint32_t y);
  static std::size_t grid_key_of(const postings::CellBox& place);
  template <typename Visit>
  static void for_each_grid_key(const Windows& windows, Visit&& visit);

  // Where the postings of a keyword are: a list of points_ or boxes_, or a part of a split one.
  static constexpr std::uint32_t kSplitBits = 4, kParts = 1u << (2 * kSplitBits);
  struct Where {
    postings::PlaceLists* lists;
    std::size_t key;
  };
  Where where(Token token, const postings::CellBox& place, bool is_point);
  static std::size_t part_key(std::uint32_t split, std::uint32_t x, std::uint32_t y) {
    return (static_cast<std::size_t>(split - 1) << (2 * kSplitBits)) + (y << kSplitBits) + x;
  }
  template <typename Visit>
  void for_each_list(Token token, const Windows& windows, Visit&& visit) const;
  std::size_t length(Token token, const Windows& windows) const;
  void split(Token token);
  void join(Token token);  ///< a split list that has become empty
  void put(MessageId id);
  void fit_frame();
  void sweep(postings::PlaceLists& lists, std::size_t key);
  std::size_t grid_length(const Windows& windows) const;
  void collect(const postings::PlaceLists& lists, std::size_t key, const Windows& windows,
               std::vector<MessageId>& out) const;
  std::vector<MessageId> held_in(const postings::PlaceLists& lists, std::size_t key) const;
  void check_tokens(const postings::PlaceLists& lists) const;

  sized_lists::Frame frame_;
  postings::PlaceLists points_, boxes_;  ///< by token
  postings::PlaceLists parts_;           ///< of split lists of points_, by part_key
  std::uint32_t split_at_;
  std::uint32_t splits_ = 0;
  std::vector<std::uint32_t> free_splits_;  ///< numbers below splits_ that no list has
  postings::PlaceLists grid_;               ///< by cell of the grid
  Array<postings::Corner> where_;           ///< by message: its lower corner, or kGone
  std::size_t count_ = 0;
  std::size_t next_fit_ = kFirstFit;
  bool wants_all_ = false;
  VisitStamps seen_;  ///< of sweeps
};

}  // namespace nearcast
