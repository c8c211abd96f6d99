#include "nearcast/index/parts/r_tree/nodes.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

Rect RTreeNodes::bounds(RNodeId node) const {
  Rect all = kNowhere;
  for (const Rect& box : boxes(node)) all = join(all, box);
  return all;
}

std::uint32_t RTreeNodes::slot_of(RNodeId node, std::uint32_t item) const {
  const std::uint32_t* items = &items_[row(node)];
  const std::uint32_t* found = std::find(items, items + count(node), item);
  ensure(found != items + count(node), "R-tree: a node does not hold what should be in it");
  return static_cast<std::uint32_t>(found - items);
}

RNodeId RTreeNodes::create(std::uint32_t level) {
  RNodeId node{static_cast<std::uint32_t>(nodes_.size())};
  if (free_nodes_.empty()) {
    nodes_.resize(nodes_.size() + 1);
    boxes_.resize(nodes_.size() * row_length());
    items_.resize(nodes_.size() * row_length());
  } else {
    node = free_nodes_.back();
    free_nodes_.pop_back();
  }
  nodes_[raw(node)] = {kNoRNode, 0, static_cast<std::uint16_t>(level)};
  return node;
}

void RTreeNodes::free(RNodeId node) {
  nodes_[raw(node)] = {kNoRNode, 0, kFreeLevel};
  free_nodes_.push_back(node);
}

void RTreeNodes::set_root(RNodeId node) {
  root_ = node;
  if (node != kNoRNode) set_parent(node, kNoRNode);
}

void RTreeNodes::append(RNodeId node, const Rect& box, std::uint32_t item) {
  const std::size_t place = row(node) + nodes_[raw(node)].count++;
  boxes_[place] = box;
  items_[place] = item;
}

void RTreeNodes::swap_remove(RNodeId node, std::uint32_t slot) {
  const std::size_t hole = row(node) + slot;
  const std::size_t last = row(node) + --nodes_[raw(node)].count;
  boxes_[hole] = boxes_[last];
  items_[hole] = items_[last];
}

std::size_t RTreeNodes::memory_bytes() const {
  return nodes_.memory_bytes() + boxes_.memory_bytes() + items_.memory_bytes() +
         free_nodes_.memory_bytes();
}

std::size_t RTreeNodes::check_node(RNodeId node, std::size_t& nodes_seen) const {
  ensure(++nodes_seen <= slots(), "R-tree: nodes go round in a circle");
  const bool is_root = node == root_;
  ensure(count(node) <= limits_.max_children, "R-tree: a node has too many children");
  ensure(count(node) >= (!is_root        ? limits_.min_children
                         : is_leaf(node) ? 1
                                         : 2),
         "R-tree: a node has too few children");
  if (is_leaf(node)) return count(node);
  std::size_t entries = 0;
  for (std::uint32_t slot = 0; slot < count(node); ++slot) {
    const RNodeId below = child(node, slot);
    ensure(raw(below) < slots(), "R-tree: a child is not a node");
    ensure(level(below) + 1 == level(node), "R-tree: leaves lie at different depths");
    ensure(parent(below) == node, "R-tree: a child names another parent");
    ensure(boxes(node)[slot] == bounds(below), "R-tree: a box is not the smallest around a child");
    entries += check_node(below, nodes_seen);
  }
  return entries;
}

std::size_t RTreeNodes::check_invariants() const {
  std::size_t nodes_seen = 0, entries = 0;
  if (root_ != kNoRNode) {
    ensure(raw(root_) < slots() && parent(root_) == kNoRNode, "R-tree: the root is not a root");
    entries = check_node(root_, nodes_seen);
  }
  for (const RNodeId node : free_nodes_) {
    ensure(nodes_[raw(node)].level == kFreeLevel, "R-tree: a node in use is listed as free");
  }
  ensure(nodes_seen + free_nodes_.size() == slots(), "R-tree: a node is neither in use nor free");
  return entries;
}

}  // namespace nearcast
