/// Which tokens do the entries below a node have, and how many of them have each? The summary that
/// Rt and Rt+ attach to an R-tree. [Rt §3.1 TokenSet, §4.1 representative-token set]
///
///   paper     here                      meaning
///   n.T       tables().find(node, key)  tokens below a node; the cell's value is their number
///   s.T       Keys::for_each_key        tokens an entry is filed under: all (Rt) or one (Rt+)
///
/// Counts make deletion exact: a token goes when its last entry goes. A subtree that moves takes
/// its whole table along, O(tokens) and not O(entries). The count of a token at a node bounds how
/// many entries below have it.
///
/// The root has no table: it is always visited, and its table would be the largest. A root that
/// gets a parent gets its table then, from its children.
///
/// Keys has for_each_key(entry, visit), which must visit the same keys when the entry is inserted
/// and when it is erased; admit() and forget() tell it of both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "nearcast/index/papers/rt_tree/token_tables.h"
#include "nearcast/index/parts/r_tree/node_summary.h"

namespace nearcast {

template <typename Keys>
class TokenCounts {
 public:
  template <typename... Arguments>
  explicit TokenCounts(Arguments&&... arguments) : keys_(std::forward<Arguments>(arguments)...) {}

  const TokenTables& tables() const { return tables_; }  ///< a row is a node
  const Keys& keys() const { return keys_; }
  Keys& keys() { return keys_; }

  void node_created(const RTreeNodes&, RNodeId node) { tables_.add_row(raw(node)); }
  void node_freed(const RTreeNodes& nodes, RNodeId node) {
    tables_.clear(raw(node));
    if (nodes.root() != kNoRNode) tables_.clear(raw(nodes.root()));  // it may have become the root
  }
  void entry_added(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
    if (node == nodes.root()) return;
    keys_.for_each_key(entry, [&](TokenKey key) { add(node, key, 1); });
  }
  void entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
    if (node == nodes.root()) return;
    keys_.for_each_key(entry, [&](TokenKey key) { subtract(node, key, 1); });
  }
  void subtree_added(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
    if (tables_.size(raw(child)) == 0) fill(nodes, tables_, raw(child), child);  // it was the root
    if (node == nodes.root()) return;
    tables_.for_each(raw(child), [&](const Cell& cell) { add(node, cell.key(), cell.value); });
  }
  void subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
    if (node == nodes.root()) return;
    tables_.for_each(raw(child), [&](const Cell& cell) { subtract(node, cell.key(), cell.value); });
  }
  void child_split(const RTreeNodes&, RNodeId, RNodeId, RNodeId) {}
  void height_changed(const RTreeNodes&) {}

  void admit(std::span<const EntryId> entries) { keys_.admit(entries); }
  void forget(EntryId entry) { keys_.forget(entry); }

  std::size_t memory_bytes() const { return tables_.memory_bytes() + keys_.memory_bytes(); }
  void check_invariants(const RTreeNodes& nodes) const;

 private:
  using Cell = TokenTables::Cell;

  void add(RNodeId node, TokenKey key, std::uint32_t count) {
    tables_.obtain(raw(node), key).value += count;
  }
  void subtract(RNodeId node, TokenKey key, std::uint32_t count) {
    Cell* cell = tables_.find(raw(node), key);
    ensure(cell != nullptr && cell->value >= count, "Rt-tree: a node lacks a token below it");
    cell->value -= count;
    if (cell->value == 0) tables_.erase(raw(node), key);
  }
  void fill(const RTreeNodes& nodes, TokenTables& tables, std::size_t row, RNodeId node) const;
  void check_below(const RTreeNodes& nodes, RNodeId node) const;

  TokenTables tables_;
  Keys keys_;
};

template <typename Keys>
void TokenCounts<Keys>::check_invariants(const RTreeNodes& nodes) const {
  tables_.check_invariants("Rt-tree");
  keys_.check_invariants();
  if (nodes.root() != kNoRNode) check_below(nodes, nodes.root());
}

/// Writes into `row` of `tables` what a node should have, by the tables of its children.
template <typename Keys>
void TokenCounts<Keys>::fill(const RTreeNodes& nodes, TokenTables& tables, std::size_t row,
                             RNodeId node) const {
  const auto count = [&](TokenKey key, std::uint32_t times) {
    tables.obtain(row, key).value += times;
  };
  for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot) {
    if (nodes.is_leaf(node)) {
      keys_.for_each_key(nodes.entry(node, slot), [&](TokenKey key) { count(key, 1); });
    } else {
      tables_.for_each(raw(nodes.child(node, slot)),
                       [&](const Cell& cell) { count(cell.key(), cell.value); });
    }
  }
}

/// Compares each node's table with those of its children, and a leaf's with its entries.
template <typename Keys>
void TokenCounts<Keys>::check_below(const RTreeNodes& nodes, RNodeId node) const {
  TokenTables expected;
  expected.add_row(0);
  if (node != nodes.root()) fill(nodes, expected, 0, node);
  ensure(expected.size(0) == tables_.size(raw(node)),
         "Rt-tree: a node has tokens of nothing below");
  expected.for_each(0, [&](const Cell& cell) {
    const Cell* found = tables_.find(raw(node), cell.key());
    ensure(found != nullptr && found->value == cell.value, "Rt-tree: a token is miscounted");
  });
  if (nodes.is_leaf(node)) return;
  for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot) {
    check_below(nodes, nodes.child(node, slot));
  }
}

}  // namespace nearcast
