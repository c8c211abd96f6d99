/// Two summaries on one R-tree: every hook is called for both, for the first one first.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "nearcast/index/parts/r_tree/node_summary.h"

namespace nearcast {

template <typename First, typename Second>
class SummaryPair {
 public:
  SummaryPair(First first_one, Second second_one)
      : first(std::move(first_one)), second(std::move(second_one)) {}

  void admit(std::span<const EntryId> entries) {
    first.admit(entries);
    second.admit(entries);
  }
  void forget(EntryId entry) {
    first.forget(entry);
    second.forget(entry);
  }

  void node_created(const RTreeNodes& nodes, RNodeId node) {
    first.node_created(nodes, node);
    second.node_created(nodes, node);
  }
  void node_freed(const RTreeNodes& nodes, RNodeId node) {
    first.node_freed(nodes, node);
    second.node_freed(nodes, node);
  }
  void entry_added(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
    first.entry_added(nodes, node, entry);
    second.entry_added(nodes, node, entry);
  }
  void entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
    first.entry_removed(nodes, node, entry);
    second.entry_removed(nodes, node, entry);
  }
  void subtree_added(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
    first.subtree_added(nodes, node, child);
    second.subtree_added(nodes, node, child);
  }
  void subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
    first.subtree_removed(nodes, node, child);
    second.subtree_removed(nodes, node, child);
  }
  void child_split(const RTreeNodes& nodes, RNodeId node, RNodeId child, RNodeId sibling) {
    first.child_split(nodes, node, child, sibling);
    second.child_split(nodes, node, child, sibling);
  }
  void height_changed(const RTreeNodes& nodes) {
    first.height_changed(nodes);
    second.height_changed(nodes);
  }

  std::size_t memory_bytes() const { return first.memory_bytes() + second.memory_bytes(); }
  void check_invariants(const RTreeNodes& nodes) const {
    first.check_invariants(nodes);
    second.check_invariants(nodes);
  }

  First first;
  Second second;
};

}  // namespace nearcast
