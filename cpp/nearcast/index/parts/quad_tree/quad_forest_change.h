/// How a QuadForest changes. Included by quad_forest.h.
#pragma once

#include <algorithm>

#include "nearcast/index/parts/quad_tree/quad_forest.h"

namespace nearcast {

template <typename Content>
QuadNodeId QuadForest<Content>::create_root() {
  const QuadNodeId root = nodes_.create(kNoQuadNode);
  content_.created(root, kNoQuadNode, frame_);
  return root;
}

template <typename Content>
void QuadForest<Content>::free_root(QuadNodeId root) {
  ensure(nodes_.total(root) == 0, "quadtree: a root is freed that is not empty");
  content_.freed(root);
  nodes_.free(root);
}

template <typename Content>
QuadNodeId QuadForest<Content>::child_or_create(QuadNodeId node, const QuadCell& cell,
                                                Quadrant quadrant) {
  if (nodes_[node].children[quadrant] == kNoQuadNode) {
    const QuadNodeId child = nodes_.create(node);
    nodes_[node].children[quadrant] = child;
    content_.created(child, node, cell.child(quadrant));
  }
  return nodes_[node].children[quadrant];
}

// ---- inserting --------------------------------------------------------------------------------

template <typename Content>
void QuadForest<Content>::place(QuadNodeId node, const QuadCell& cell, const Item& item) {
  if (nodes_[node].is_divided) return place_divided(node, cell, item);
  content_.attach(node, item);
  ++nodes_[node].own;
  if (is_too_full(node, cell, nodes_[node].own)) divide(node, cell);
}

template <typename Content>
void QuadForest<Content>::place_divided(QuadNodeId node, const QuadCell& cell, const Item& item) {
  if (content_.stays(node, cell, item)) {
    content_.attach(node, item);
    ++nodes_[node].own;
    return;
  }
  const QuadrantSet touched = quadrants_of(cell, item.box);
  for (Quadrant quadrant = 0; quadrant < 4; ++quadrant) {
    if (!has(touched, quadrant)) continue;
    const QuadNodeId child = child_or_create(node, cell, quadrant);
    const std::uint32_t before = nodes_.total(child);
    place(child, cell.child(quadrant), item);
    nodes_[node].below += nodes_.total(child) - before;
  }
}

template <typename Content>
void QuadForest<Content>::divide(QuadNodeId node, const QuadCell& cell) {
  std::vector<Item> items;
  content_.take_all(node, items);
  nodes_[node].own = 0;
  nodes_[node].is_divided = true;
  for (const Item& item : items) place_divided(node, cell, item);
  content_.divided(node);
}

/// What place() would lead to for each item in turn, without making cells only to divide them.
template <typename Content>
void QuadForest<Content>::fill(QuadNodeId node, const QuadCell& cell, std::vector<Item> items) {
  nodes_[node].is_divided = is_too_full(node, cell, items.size());
  std::vector<Item> inside[4];
  for (const Item& item : items) {
    if (!nodes_[node].is_divided || content_.stays(node, cell, item)) {
      content_.attach(node, item);
      ++nodes_[node].own;
      continue;
    }
    const QuadrantSet touched = quadrants_of(cell, item.box);
    for (Quadrant quadrant = 0; quadrant < 4; ++quadrant) {
      if (has(touched, quadrant)) inside[quadrant].push_back(item);
    }
  }
  if (!nodes_[node].is_divided) return;
  items = {};  // memory of one level at a time
  for (Quadrant quadrant = 0; quadrant < 4; ++quadrant) {
    if (inside[quadrant].empty()) continue;
    const QuadNodeId child = child_or_create(node, cell, quadrant);
    fill(child, cell.child(quadrant), std::move(inside[quadrant]));
    nodes_[node].below += nodes_.total(child);
  }
  content_.divided(node);
}

// ---- erasing ----------------------------------------------------------------------------------

template <typename Content>
void QuadForest<Content>::remove(QuadNodeId node, const QuadCell& cell, const Item& item) {
  if (!nodes_[node].is_divided || content_.stays(node, cell, item)) {
    content_.detach(node, item);
    --nodes_[node].own;
  } else {
    remove_below(node, cell, item);
  }
  if (nodes_[node].is_divided && nodes_.total(node) <= limits_.max_leaf / 2) merge(node);
}

template <typename Content>
void QuadForest<Content>::remove_below(QuadNodeId node, const QuadCell& cell, const Item& item) {
  const QuadrantSet touched = quadrants_of(cell, item.box);
  for (Quadrant quadrant = 0; quadrant < 4; ++quadrant) {
    if (!has(touched, quadrant)) continue;
    const QuadNodeId child = nodes_[node].children[quadrant];
    ensure(child != kNoQuadNode, "quadtree: an entry is erased from a cell that is not there");
    const std::uint32_t before = nodes_.total(child);
    remove(child, cell.child(quadrant), item);
    nodes_[node].below -= before - nodes_.total(child);
    if (nodes_.total(child) != 0) continue;
    content_.freed(child);
    nodes_.free(child);
    nodes_[node].children[quadrant] = kNoQuadNode;
  }
}

/// Takes everything attached below the node; afterwards the node is undivided and has no children.
template <typename Content>
void QuadForest<Content>::take_below(QuadNodeId node, std::vector<Item>& out) {
  for (QuadNodeId& link : nodes_[node].children) {
    const QuadNodeId child = link;
    link = kNoQuadNode;
    if (child == kNoQuadNode) continue;
    content_.take_all(child, out);
    take_below(child, out);
    content_.freed(child);
    nodes_.free(child);
  }
  nodes_[node].is_divided = false;
  nodes_[node].below = 0;
}

template <typename Content>
void QuadForest<Content>::merge(QuadNodeId node) {
  std::vector<Item> items;
  content_.take_all(node, items);
  take_below(node, items);
  const auto by_entry = [](const Item& item) { return raw(item.entry); };
  std::ranges::sort(items, {}, by_entry);
  items.erase(std::ranges::unique(items, {}, by_entry).begin(), items.end());
  for (const Item& item : items) content_.attach(node, item);
  nodes_[node].own = static_cast<std::uint32_t>(items.size());
  content_.merged(node);
}

template <typename Content>
void QuadForest<Content>::dissolve(QuadNodeId root, std::vector<Item>& out) {
  if (nodes_[root].is_divided) merge(root);
  content_.take_all(root, out);
  nodes_[root].own = 0;
  free_root(root);
}

// ---- reading ----------------------------------------------------------------------------------

template <typename Content>
template <typename Visit>
void QuadForest<Content>::find_cells(QuadNodeId node, const QuadCell& cell, const Item& item,
                                     Visit& visit) const {
  if (!nodes_[node].is_divided || content_.stays(node, cell, item)) {
    visit(node);
    return;
  }
  const QuadrantSet touched = quadrants_of(cell, item.box);
  for (Quadrant quadrant = 0; quadrant < 4; ++quadrant) {
    if (!has(touched, quadrant)) continue;
    const QuadNodeId child = nodes_[node].children[quadrant];
    ensure(child != kNoQuadNode, "quadtree: an entry's cell is not there");
    find_cells(child, cell.child(quadrant), item, visit);
  }
}

template <typename Content>
template <typename Visit>
void QuadForest<Content>::walk(QuadNodeId node, const QuadCell& cell, Visit& visit) const {
  visit(node, cell);
  for (Quadrant quadrant = 0; quadrant < 4; ++quadrant) {
    const QuadNodeId child = nodes_[node].children[quadrant];
    if (child != kNoQuadNode) walk(child, cell.child(quadrant), visit);
  }
}

}  // namespace nearcast
