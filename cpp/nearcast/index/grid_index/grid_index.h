/// SS-Index and KK-Index: a grid and inverted lists, for subscriptions and for messages alike.
/// [AP §5.2.1 SS-Index, KK-Index; §4.2.5 incremental evaluation]
///
/// A subscription stands in the cells that it touches under its least frequent keyword, a message
/// in its cell under each of its words. SS goes to the cell first and finds the lists of its
/// keywords; KK goes to the keyword first and finds its cells. When a subscription moves, the
/// messages of the cells before and after are judged by "in the new area and not in the old" and
/// the reverse (cells that both cover are passed over), and it is filed anew where its cells
/// changed.
///
///   paper                        here
///   grid file                    Grid
///   ranked-key inverted list     KeyDirectory: cell and keyword, or keyword and cell, to a list
///   40 cells per dimension       cells
///
/// Departs from the paper: what would be in more than a quarter of all cells is filed in one that
/// is everywhere. The grid covers where most subscriptions were when the index was last built
/// whole, which happens again as it grows; the paper's data had a frame. Clauses without keywords
/// have a word of their own, which every message has.
#pragma once

#include "nearcast/index/grid_index/grid.h"
#include "nearcast/index/key_directory/key_directory.h"
#include "nearcast/index/message_lists/move_judge.h"
#include "nearcast/index/parameters.h"
#include "nearcast/index/quad_tree/posting.h"
#include "nearcast/index/quad_tree/workload.h"
#include "nearcast/model/entry_map.h"

namespace nearcast {

class GridIndex : public MovingIndex {
 public:
  static std::vector<ParameterSpec> parameters();

  void insert(SubscriptionId id) override { build({&id, 1}); }
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  void attach(const MessageStore& messages) override;
  void keep(MessageId id, MatchScratch& scratch, MatchSink& sink) override;
  void drop(MessageId id) override;
  void find(SubscriptionId id, std::vector<MessageId>& out) const override;
  void move(SubscriptionId id, const Area& to, SubscriptionStore& store,
            MoveChanges& changes) override;

  std::size_t memory_bytes() const override;
  std::size_t message_bytes() const override;
  void check_invariants() const override;
  void save(ArchiveWriter& out) const override;
  void load(ArchiveReader& in) override;

 protected:
  enum class First { kCell, kKeyword };
  GridIndex(const SubscriptionStore& store, const Parameters& parameters, First first)
      : MovingIndex(store),
        first_(first),
        grid_(kWorld, static_cast<std::uint32_t>(parameters.count("cells"))) {}

 private:
  /// Where a list is in a directory.
  struct Address {
    std::uint32_t row, column;
  };
  Address address(std::uint32_t cell, Token key) const {
    if (first_ == First::kCell) return {cell, raw(key)};
    return {key == kUnknownToken ? 0 : raw(key) + 1, cell};
  }

  void rebuild();
  Rect frame_of_all() const;
  void place(EntryId entry, const Rect& box);
  void take_away(EntryId entry, const Rect& box);
  void attach_to(std::uint32_t cell, EntryId entry, const Rect& box);
  void detach_from(std::uint32_t cell, EntryId entry);
  QuadPosting& posting_in(std::uint32_t cell, EntryId entry);
  void shift(EntryId entry, const Rect& from, const Rect& to);
  void file(MessageId id);
  void judge(EntryId entry, const Rect& from, const Rect& to) const;
  void scan(Address at, const Message& message, MatchScratch& scratch, MatchSink& sink) const;

  First first_;
  Grid grid_;
  Workload workload_;
  EntryMap<Token> keys_;  ///< under which keyword an entry stands
  KeyDirectory<ListHandle> subscriptions_;
  ListArena<QuadPosting> postings_;
  KeyDirectory<> message_lists_;
  MessageLists lists_;
  MoveJudge judge_;
};

class SsIndex final : public GridIndex {
 public:
  SsIndex(const SubscriptionStore& store, const Parameters& parameters)
      : GridIndex(store, parameters, First::kCell) {}
};

class KkIndex final : public GridIndex {
 public:
  KkIndex(const SubscriptionStore& store, const Parameters& parameters)
      : GridIndex(store, parameters, First::kKeyword) {}
};

}  // namespace nearcast
