/// How much can the tokens on deeper levels still add? The second summary of the Rt++-tree for rank
/// mode. [Rt §6.3 B(s, n), equation 7]
///
///   paper        here               meaning
///   B(s, n)      rest(entry, i)     weight of the tokens after the i-th, in the order of levels;
///                                   not divided by ω(s), which happens once, in the score
///   PRE, PRE'    reach(node)        the longest prefixes below a node: on deeper levels no
///                                   subscription can be found for the first time
///
/// The paper does not say how a message that lacks the first tokens of a subscription finds it by
/// later ones. Here each node knows down to which level a subscription below it can be found for
/// the first time and still reach its threshold, for messages that touch its box and for others.
///
/// The order is that of index/papers/rt_tree/token_levels.h, rarest first. It changes when all is
/// filed anew; then, and with a new epoch, everything here is computed anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/index/papers/rt_tree/token_levels.h"
#include "nearcast/rank/rank_store.h"

namespace nearcast {

class LevelBounds {
 public:
  /// How many tokens of a subscription, from the first, may be the first one found.
  struct Reach {
    std::uint16_t near, far;

    friend bool operator==(const Reach&, const Reach&) = default;
  };

  explicit LevelBounds(const RankStore& store) : store_(store) {}

  Reach reach(RNodeId node) const { return reaches_[raw(node)]; }
  /// kNothingNeeded: the subscription may be found without any token.
  Reach reach(EntryId entry) const { return rows_[raw(entry)].reach; }
  std::uint32_t count(EntryId entry) const { return rows_[raw(entry)].count; }  ///< of tokens
  /// Rounded up.
  float rest(EntryId entry, std::size_t position) const {
    return *rests_.at(rows_[raw(entry)].start + static_cast<std::uint32_t>(position));
  }

  /// Everything anew, in this order of tokens.
  void compute_all(const RTreeNodes& nodes, const TokenOrder& order);

  // As hooks of a summary, called by LevelSummary with the order in force.
  void admit(std::span<const EntryId> entries, const TokenOrder& order);
  void forget(EntryId entry);
  void node_created(RNodeId node);
  void entry_added(RNodeId node, EntryId entry) { widen(node, reach(entry)); }
  void subtree_added(RNodeId node, RNodeId child) { widen(node, reach(child)); }
  void child_removed(const RTreeNodes& nodes, RNodeId node) {
    reaches_[raw(node)] = of_children(nodes, node);
  }

  std::size_t memory_bytes() const;
  void check_invariants(const RTreeNodes& nodes, const TokenOrder& order) const;

 private:
  struct Row {
    std::uint32_t start;  ///< in rests_, one for each token
    std::uint32_t count;
    Reach reach;
  };

  void widen(RNodeId node, Reach other);
  Reach of_children(const RTreeNodes& nodes, RNodeId node) const;
  /// The entry's prefixes, and in `rests` what follows each token.
  Reach compute(EntryId entry, const TokenOrder& order, std::vector<float>& rests) const;
  void compute_below(const RTreeNodes& nodes, RNodeId node, const TokenOrder& order);
  void write(EntryId entry, const TokenOrder& order);

  const RankStore& store_;
  Array<Row> rows_;       ///< by entry
  Array<Reach> reaches_;  ///< by node
  ListArena<float> rests_;
};

/// TokenLevels and LevelBounds as one summary: the bounds follow the order of the levels.
class LevelSummary {
 public:
  explicit LevelSummary(const RankStore& store) : levels(store.subscriptions()), bounds(store) {}

  void reweigh(const RTreeNodes& nodes) { bounds.compute_all(nodes, levels.order()); }

  void admit(std::span<const EntryId> entries) {
    levels.admit(entries);
    bounds.admit(entries, levels.order());
  }
  void forget(EntryId entry) {
    levels.forget(entry);
    bounds.forget(entry);
  }
  void node_created(const RTreeNodes& nodes, RNodeId node) {
    levels.node_created(nodes, node);
    bounds.node_created(node);
  }
  void node_freed(const RTreeNodes& nodes, RNodeId node) { levels.node_freed(nodes, node); }
  void entry_added(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
    levels.entry_added(nodes, node, entry);
    bounds.entry_added(node, entry);
  }
  void entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
    levels.entry_removed(nodes, node, entry);
    bounds.child_removed(nodes, node);
  }
  void subtree_added(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
    levels.subtree_added(nodes, node, child);
    bounds.subtree_added(node, child);
  }
  void subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
    levels.subtree_removed(nodes, node, child);
    bounds.child_removed(nodes, node);
  }
  void child_split(const RTreeNodes&, RNodeId, RNodeId, RNodeId) {}
  void height_changed(const RTreeNodes& nodes) {
    const std::uint32_t before = levels.filings();
    levels.height_changed(nodes);
    if (levels.filings() != before) bounds.compute_all(nodes, levels.order());
  }

  std::size_t memory_bytes() const { return levels.memory_bytes() + bounds.memory_bytes(); }
  void check_invariants(const RTreeNodes& nodes) const {
    levels.check_invariants(nodes);
    bounds.check_invariants(nodes, levels.order());
  }

  TokenLevels levels;
  LevelBounds bounds;
};

}  // namespace nearcast
