/// The MBRTrie itself: a trie on token sets whose nodes know the box and the numbers of everything
/// below them. [LFilter §3.1 structure and updates, §3.3 probing]
///
///   paper              here                  meaning
///   token order        TokenOrder            most frequent first; paths run from the rarest token
///   token-set order    NumberLine            an entry further left has the smaller set
///   n_mbr              Branch::box           box around everything below a node
///   [n_l, n_u]         Branch::first, last   numbers of everything below a node
///   inverted list      seats from first on   entries whose token set ends at the node
///   T, T_n             positions, rest       tokens of the message; those that can still follow n
///   L_i                level_sizes()         nodes of the i-th level
///
/// Departs from the paper: leaves with an empty token are not nodes of their own. Entries whose set
/// ends at a node have numbers before those of its children, so its list is the stretch of numbers
/// that starts at `first`, and needs no memory. The order of tokens is by frequency where the paper
/// takes the alphabet: from the rarest to the most frequent, so that a message leaves the trie
/// where few of its tokens lead on. Boxes are in single precision, rounded outward.
///
/// Erased entries are marked; their numbers and boxes count until `repair` of all are marked, then
/// the trie is made anew from what is left, in the order it has.
#pragma once

#include <vector>

#include "nearcast/base/work_counters.h"
#include "nearcast/geo/float_box.h"
#include "nearcast/index/papers/mbr_trie/number_line.h"
#include "nearcast/index/parts/token_trie/token_trie.h"
#include "nearcast/model/entry_map.h"
#include "nearcast/model/subscription_store.h"
#include "nearcast/text/token_order.h"

namespace nearcast {

using PositionSpan = std::span<const Position>;

enum class Probe { kCost, kTokenSet, kTrie };

struct Branch {
  FloatBox box;
  Number first, last;
  std::uint32_t own;  ///< entries that end here and are not erased
};
constexpr Branch kNewBranch{kNoFloatBox, 0xFFFFFFFFu, 0, 0};

class OrderedTrie {
 public:
  struct Options {
    bool rare_first = true;
    double reserve = 0.25;  ///< spare numbers per entry
    double repair = 0.25;   ///< share of marked entries that is too much
  };

  OrderedTrie(const SubscriptionStore& store, Options options) : store_(store), options_(options) {}

  void insert(EntryId entry);  ///< may change numbers: moves()
  void erase(EntryId entry);   ///< may change numbers: moves()
  void rebuild();              ///< from everything in the store, with a fresh order of tokens
  /// The numbers that the last insert or erase changed, ascending; the order stayed.
  std::span<const NumberLine::Move> moves() const { return moves_; }

  std::size_t size() const { return line_.live(); }
  const TokenTrie<Branch>& trie() const { return trie_; }
  const NumberLine& line() const { return line_; }
  const TokenOrder& order() const { return order_; }
  Number number(EntryId entry) const { return numbers_[entry]; }
  /// Numbers of the entries that end at the node: from its first up to this.
  Number end_of_own(TrieNodeId node) const {
    const std::span<const TrieChild> children = trie_.children(node);
    return children.empty() ? trie_[node].last + 1 : trie_[children.front().node].first;
  }
  std::span<const std::uint32_t> level_sizes() const { return level_sizes_.view(); }

  /// The message's tokens that occur in the trie, ascending by position.
  void place_tokens(TokenSpan tokens, std::vector<Position>& positions) const;
  /// The tokens that can follow the i-th on a path.
  PositionSpan rest(PositionSpan positions, std::size_t i) const {
    return options_.rare_first ? positions.first(i) : positions.subspan(i + 1);
  }

  /// Calls visit(child, rest) for each child whose token is among `positions`.
  /// [LFilter §3.3, Alg. 1 SelectPair]
  template <typename Visit>
  void for_each_child_in(TrieNodeId node, PositionSpan positions, Probe probe, Visit&& visit) const;
  /// Calls visit(entry) for each entry that ends at the node and whose box touches the place.
  template <typename Visit>
  void for_each_own(TrieNodeId node, const Place& place, WorkCounters& work, Visit&& visit) const;
  /// Calls visit(entry) for each entry whose tokens are all among `positions` and whose box touches
  /// the place. [LFilter §3.2, Alg. 1 MBRTrie-Filter]
  /// `steps` is memory that the caller keeps between calls: a path may have thousands of nodes, so
  /// the walk does not recurse.
  template <typename Visit>
  void search(PositionSpan positions, const Place& place, Probe probe, WorkCounters& work,
              std::vector<std::uint64_t>& steps, Visit&& visit) const;

  std::size_t memory_bytes() const;
  void check_invariants() const;

 private:
  void append_path(EntryId entry, std::vector<Position>& path) const;  ///< tokens have positions
  TrieNodeId add_node(TrieNodeId parent, Position position, std::uint32_t depth);
  Number take_number(TrieNodeId parent, std::span<const Position> missing, Seat& seat,
                     std::uint32_t depth);
  void follow_moves();
  void widen_up(TrieNodeId node, Number number, const FloatBox& box);

  std::vector<EntryId> sorted_entries() const;
  std::vector<EntryId> entries_in_order() const;
  void lay_out(std::span<const EntryId> ordered);
  void repair();

  const SubscriptionStore& store_;
  Options options_;
  TokenOrder order_;
  TokenTrie<Branch> trie_;
  NumberLine line_;
  EntryMap<Number> numbers_;
  std::vector<NumberLine::Move> moves_;
  Array<std::uint32_t> level_sizes_;  ///< nodes by depth; the root is level 0
};

}  // namespace nearcast

#include "nearcast/index/papers/mbr_trie/probe.h"
