/// Which tokens do the messages below a node have, how many have each, and how much does it weigh
/// at most? The summary that makes an R-tree of messages an IR-tree [Skype §8.1 message index].
///
///   in a cell   22 bits number of messages, 10 bits most weight, rounded up
///
/// A weight is that of a token in a message's vector of unit length. The numbers make deletion
/// exact: a token is erased with its last message. When the message with the largest weight leaves,
/// the largest weight is computed anew from the node's children. A number that has reached its
/// largest value stays: such a token is never erased, which costs time and changes no answer.
///
/// Departs from the original, whose nodes have an inverted file of their children with most
/// weights: here each child has its own table. Both say the same of each child.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "nearcast/index/papers/rt_tree/token_tables.h"
#include "nearcast/index/parts/r_tree/node_summary.h"
#include "nearcast/topk/top_state.h"

namespace nearcast {

class TokenBounds {
 public:
  explicit TokenBounds(const TopState& state) : state_(state) {}

  /// At least what a message below the node has of this token; 0: none has it.
  double weight(RNodeId node, TokenKey key) const {
    const TokenTables::Cell* cell = tables_.find(raw(node), key);
    return cell == nullptr ? 0 : static_cast<double>(most(cell->value)) / kScale;
  }
  void prefetch(RNodeId node) const { tables_.prefetch(raw(node)); }

  void node_created(const RTreeNodes&, RNodeId node) { tables_.add_row(raw(node)); }
  void node_freed(const RTreeNodes&, RNodeId node) { tables_.clear(raw(node)); }
  void entry_added(const RTreeNodes& nodes, RNodeId node, EntryId entry);
  void entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId entry);
  void subtree_added(const RTreeNodes& nodes, RNodeId node, RNodeId child);
  void subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId child);
  void child_split(const RTreeNodes&, RNodeId, RNodeId, RNodeId) {}
  void height_changed(const RTreeNodes&) {}

  std::size_t memory_bytes() const { return tables_.memory_bytes(); }
  void check_invariants(const RTreeNodes& nodes) const;

 private:
  using Value = std::uint32_t;
  static constexpr Value kScale = 1023, kMostMessages = (1u << 22) - 1;

  static Value most(Value value) { return value & kScale; }
  static Value messages(Value value) { return value >> 10; }
  static Value pack(Value messages, Value most) { return messages << 10 | most; }
  static Value round_up(double weight) {
    return std::min(kScale, static_cast<Value>(std::ceil(weight * kScale)));
  }

  template <typename Visit>
  void for_each_weight(EntryId entry, Visit&& visit) const;  ///< visit(key, rounded weight)
  void add(RNodeId node, TokenKey key, Value value);
  void subtract(const RTreeNodes& nodes, RNodeId node, TokenKey key, Value value);
  Value most_below(const RTreeNodes& nodes, RNodeId node, TokenKey key) const;
  void check_node(const RTreeNodes& nodes, RNodeId node) const;

  const TopState& state_;
  TokenTables tables_;  ///< a row is a node
};

}  // namespace nearcast
