/// Numbers for entries in a given order, with spare ones in between. [LFilter §3.1 updates]
///
/// The paper numbers subscriptions by token-set order and reserves ids for later insertions. Here a
/// number is a *seat* in an array with gaps: an entry further left has the smaller number. A new
/// entry takes a free seat between its neighbours. Where the gap is full, the smallest stretch
/// around it that is not too crowded is spread out evenly; moves() lists the entries that changed
/// seats, and the order never changes. The larger the stretch, the less crowded it has to be, so
/// that many entries can be inserted into a stretch before it is spread out again.
///
/// A seat holds its entry's box, so that a scan of a range of numbers reads memory sequentially.
///
/// An erased entry is marked and keeps its seat; the user of the line starts it anew when too many
/// are marked.
#pragma once

#include <span>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/geo/float_box.h"
#include "nearcast/index/parts/token_trie/token_trie.h"

namespace nearcast {

using Number = std::uint32_t;

struct Seat {
  EntryId entry;    ///< kNoEntry: free or marked
  TrieNodeId node;  ///< where the entry's token set ends; kNoTrieNode: free
  FloatBox box;
};

class NumberLine {
 public:
  struct Move {
    Number from, to;
  };

  std::size_t size() const { return seats_.size(); }  ///< numbers are below this
  std::size_t live() const { return live_; }
  std::size_t marked() const { return marked_; }

  bool is_free(Number number) const { return seats_[number].node == kNoTrieNode; }
  bool is_live(Number number) const { return seats_[number].entry != kNoEntry; }
  TrieNodeId node(Number number) const { return seats_[number].node; }  ///< of a seat not free
  EntryId entry(Number number) const { return seats_[number].entry; }   ///< of a live seat
  const FloatBox& box(Number number) const { return seats_[number].box; }

  /// An empty line for `count` entries to be appended, with `spare` free seats for each.
  void start(std::size_t count, double spare);
  Number append(const Seat& newcomer);  ///< behind all others; after start()

  /// A seat right before the one that has `next`, right after the one that has `previous`, or
  /// anywhere if there is none yet.
  Number take_before(Number next, const Seat& newcomer);
  Number take_after(Number previous, const Seat& newcomer);
  Number take_any(const Seat& newcomer);
  /// The entries that changed seats during the last take, ascending.
  std::span<const Move> moves() const { return moves_; }

  void mark(Number number);

  std::size_t memory_bytes() const { return seats_.memory_bytes(); }
  void check_invariants() const;

 private:
  static constexpr EntryId kNoEntry = EntryId{0xFFFFFFFFu};
  static constexpr Seat kFreeSeat{kNoEntry, kNoTrieNode, kNoFloatBox};
  static constexpr std::uint32_t kSmallestStretch = 16;
  static constexpr double kMostCrowded = 0.9;  ///< of the whole line
  static constexpr double kLeastSpare = 0.25;  ///< per entry, when a line has to grow

  struct Header {
    std::uint64_t live, marked, appended, expected;
  };

  void resize(std::size_t size);
  Number sit(Number number, const Seat& seat);
  Number squeeze_in(Number boundary, const Seat& newcomer);
  Number spread(Number begin, Number end, Number boundary, const Seat& newcomer);

  Array<Seat> seats_;
  std::size_t live_ = 0, marked_ = 0;
  std::size_t appended_ = 0, expected_ = 0;  ///< of start(): how many came, how many will
  std::vector<Move> moves_;
};

}  // namespace nearcast
