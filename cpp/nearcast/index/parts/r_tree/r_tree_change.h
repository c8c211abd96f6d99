/// How an R-tree changes: the longer members of RTree, included by r_tree.h alone.
#pragma once

#include "nearcast/index/parts/r_tree/r_tree.h"

namespace nearcast {

template <typename Summary>
void RTree<Summary>::insert(EntryId entry, const Rect& box) {
  const std::uint32_t old_height = nodes_.height();
  if (size_++ == 0) {
    nodes_.set_root(nodes_.create(0));
    summary_.node_created(nodes_, nodes_.root());
  }
  place({0, raw(entry), box});
  if (nodes_.height() != old_height) summary_.height_changed(nodes_);
}

template <typename Summary>
void RTree<Summary>::place(const Orphan& newcomer) {
  const RNodeId node = choose_node(newcomer.box, newcomer.level);
  adopt(node, newcomer.box, newcomer.item);
  widen_ancestors(node, newcomer.box);
  tell_added_up(node, newcomer.item);
  split_overfull(node);
}

template <typename Summary>
RNodeId RTree<Summary>::choose_node(const Rect& box, std::uint32_t level) const {
  RNodeId node = nodes_.root();
  while (nodes_.level(node) > level) {
    node = nodes_.child(node, cheapest_slot(nodes_.boxes(node), box));
  }
  return node;
}

template <typename Summary>
void RTree<Summary>::adopt(RNodeId node, const Rect& box, Item item) {
  nodes_.append(node, box, item);
  if (nodes_.is_leaf(node)) {
    leaf_of_.set(EntryId{item}, node);
  } else {
    nodes_.set_parent(RNodeId{item}, node);
  }
}

template <typename Summary>
void RTree<Summary>::widen_ancestors(RNodeId node, const Rect& box) {
  for (RNodeId parent = nodes_.parent(node); parent != kNoRNode; parent = nodes_.parent(node)) {
    const std::uint32_t slot = nodes_.slot_of(parent, raw(node));
    const Rect& old = nodes_.boxes(parent)[slot];
    const Rect wider = join(old, box);
    if (wider == old) return;
    nodes_.set_box(parent, slot, wider);
    node = parent;
  }
}

template <typename Summary>
void RTree<Summary>::split_overfull(RNodeId node) {
  while (nodes_.count(node) > nodes_.limits().max_children) {
    const RNodeId sibling = divide(node);
    if (node == nodes_.root()) return grow_root(sibling);
    const RNodeId parent = nodes_.parent(node);
    nodes_.set_box(parent, nodes_.slot_of(parent, raw(node)), nodes_.bounds(node));
    adopt(parent, nodes_.bounds(sibling), raw(sibling));
    summary_.child_split(nodes_, parent, node, sibling);
    node = parent;
  }
}

/// Move a part of the node's children into a new node beside it, which has no parent yet.
template <typename Summary>
RNodeId RTree<Summary>::divide(RNodeId node) {
  const SplitPlan plan = plan_split(nodes_.boxes(node), nodes_.limits().min_children);
  std::vector<Orphan> children;
  for (const std::uint32_t slot : plan.order) {
    children.push_back({nodes_.level(node), nodes_.item(node, slot), nodes_.boxes(node)[slot]});
  }
  const RNodeId sibling = nodes_.create(nodes_.level(node));
  nodes_.truncate(node);
  for (std::size_t i = 0; i < children.size(); ++i) {
    adopt(i < plan.cut ? node : sibling, children[i].box, children[i].item);
  }
  summary_.node_created(nodes_, sibling);
  for (std::size_t i = plan.cut; i < children.size(); ++i) {
    tell_removed(node, children[i].item);
    tell_added(sibling, children[i].item);
  }
  return sibling;
}

template <typename Summary>
void RTree<Summary>::grow_root(RNodeId sibling) {
  const RNodeId old = nodes_.root();
  const RNodeId root = nodes_.create(nodes_.level(old) + 1);
  nodes_.set_root(root);
  adopt(root, nodes_.bounds(old), raw(old));
  adopt(root, nodes_.bounds(sibling), raw(sibling));
  summary_.node_created(nodes_, root);
  summary_.subtree_added(nodes_, root, old);
  summary_.subtree_added(nodes_, root, sibling);
}

template <typename Summary>
void RTree<Summary>::erase(EntryId entry) {
  const std::uint32_t old_height = nodes_.height();
  const RNodeId leaf = leaf_of_[entry];
  nodes_.swap_remove(leaf, nodes_.slot_of(leaf, raw(entry)));
  --size_;
  if constexpr (kHasSummary) {
    for (RNodeId node = leaf; node != kNoRNode; node = nodes_.parent(node)) {
      summary_.entry_removed(nodes_, node, entry);
    }
  }
  condense(leaf);
  shrink_root();
  if (nodes_.height() != old_height) summary_.height_changed(nodes_);
}

/// Repair everything above a node that lost a child.
template <typename Summary>
void RTree<Summary>::condense(RNodeId node) {
  std::vector<Orphan> orphans;
  while (node != nodes_.root()) {
    const RNodeId parent = nodes_.parent(node);
    if (nodes_.count(node) < nodes_.limits().min_children) {
      dissolve(node, orphans);
    } else {
      const std::uint32_t slot = nodes_.slot_of(parent, raw(node));
      const Rect tight = nodes_.bounds(node);
      if (tight == nodes_.boxes(parent)[slot]) break;  // nothing has changed for those above
      nodes_.set_box(parent, slot, tight);
    }
    node = parent;
  }
  // Subtrees first: the entries are then placed in a tree that has its full height again.
  for (auto orphan = orphans.rbegin(); orphan != orphans.rend(); ++orphan) place(*orphan);
}

template <typename Summary>
void RTree<Summary>::dissolve(RNodeId node, std::vector<Orphan>& orphans) {
  const RNodeId parent = nodes_.parent(node);
  nodes_.swap_remove(parent, nodes_.slot_of(parent, raw(node)));
  if constexpr (kHasSummary) {
    for (RNodeId above = parent; above != kNoRNode; above = nodes_.parent(above)) {
      summary_.subtree_removed(nodes_, above, node);
    }
  }
  for (std::uint32_t slot = 0; slot < nodes_.count(node); ++slot) {
    orphans.push_back({nodes_.level(node), nodes_.item(node, slot), nodes_.boxes(node)[slot]});
  }
  nodes_.free(node);
  summary_.node_freed(nodes_, node);
}

template <typename Summary>
void RTree<Summary>::shrink_root() {
  const RNodeId old = nodes_.root();
  const bool is_empty = size_ == 0;
  if (!is_empty && (nodes_.is_leaf(old) || nodes_.count(old) > 1)) return;
  nodes_.set_root(is_empty ? kNoRNode : nodes_.child(old, 0));
  nodes_.free(old);
  summary_.node_freed(nodes_, old);
}

template <typename Summary>
void RTree<Summary>::build(std::span<const EntryId> entries, std::span<const Rect> boxes) {
  ensure(size_ == 0, "R-tree: bulk load into a tree that is not empty");
  if (entries.empty()) return;
  std::vector<Item> items;
  for (const EntryId entry : entries) items.push_back(raw(entry));
  std::vector<Rect> level_boxes(boxes.begin(), boxes.end());
  for (std::uint32_t level = 0; level == 0 || items.size() > 1; ++level) {
    const Packing packing = pack(level_boxes, nodes_.limits());
    std::vector<Item> made;
    std::vector<Rect> made_boxes;
    for (std::size_t group = 0; group < packing.groups; ++group) {
      const RNodeId node = nodes_.create(level);
      for (const std::uint32_t i : packing.members(group)) adopt(node, level_boxes[i], items[i]);
      made.push_back(raw(node));
      made_boxes.push_back(nodes_.bounds(node));
    }
    items.swap(made);
    level_boxes.swap(made_boxes);
  }
  nodes_.set_root(RNodeId{items[0]});
  size_ = entries.size();
  if constexpr (kHasSummary) tell_built(nodes_.root());
  summary_.height_changed(nodes_);
}

template <typename Summary>
void RTree<Summary>::tell_added(RNodeId node, Item item) {
  if (nodes_.is_leaf(node)) {
    summary_.entry_added(nodes_, node, EntryId{item});
  } else {
    summary_.subtree_added(nodes_, node, RNodeId{item});
  }
}

template <typename Summary>
void RTree<Summary>::tell_removed(RNodeId node, Item item) {
  if (nodes_.is_leaf(node)) {
    summary_.entry_removed(nodes_, node, EntryId{item});
  } else {
    summary_.subtree_removed(nodes_, node, RNodeId{item});
  }
}

template <typename Summary>
void RTree<Summary>::tell_added_up(RNodeId node, Item item) {
  if constexpr (kHasSummary) {
    const bool is_entry = nodes_.is_leaf(node);
    for (; node != kNoRNode; node = nodes_.parent(node)) {
      if (is_entry) {
        summary_.entry_added(nodes_, node, EntryId{item});
      } else {
        summary_.subtree_added(nodes_, node, RNodeId{item});
      }
    }
  }
}

template <typename Summary>
void RTree<Summary>::tell_built(RNodeId node) {
  if (!nodes_.is_leaf(node)) {
    for (std::uint32_t slot = 0; slot < nodes_.count(node); ++slot) {
      tell_built(nodes_.child(node, slot));
    }
  }
  summary_.node_created(nodes_, node);
  for (std::uint32_t slot = 0; slot < nodes_.count(node); ++slot) {
    tell_added(node, nodes_.item(node, slot));
  }
}

template <typename Summary>
void RTree<Summary>::check_invariants() const {
  ensure(nodes_.check_invariants() == size_, "R-tree: the number of entries is wrong");
  if (size_ == 0) return;
  nodes_.for_each_entry_below(nodes_.root(), [&](EntryId entry, const Rect& box) {
    const RNodeId leaf = leaf_of_[entry];
    const std::uint32_t slot = nodes_.slot_of(leaf, raw(entry));
    ensure(nodes_.is_leaf(leaf) && &nodes_.boxes(leaf)[slot] == &box,
           "R-tree: an entry's leaf is another one");
  });
}

}  // namespace nearcast
