/// What an index attaches to the nodes of an R-tree, and how it learns that the tree has changed.
///
/// A *summary* says something about all entries below a node: which tokens they have and how often
/// (Rt, Rt+), which entry has which token as its i-th (Rt++), which child has which token (IR). The
/// tree does not know what. RTree<Summary> owns one Summary object, which keeps its own arrays by
/// RNodeId, and calls these hooks; NoSummary is the tree alone and costs nothing.
///
///   node_created(nodes, n)         n is new and holds nothing yet
///   node_freed(nodes, n)           n is gone; its id may come back with node_created
///   entry_added(nodes, n, e)       entry e now counts below n
///   entry_removed(nodes, n, e)     entry e no longer counts below n
///   subtree_added(nodes, n, c)     all entries below node c now count below n as well
///   subtree_removed(nodes, n, c)   all entries below node c no longer count below n
///   child_split(nodes, n, c, s)    part of what was below n's child c is now below n's new child s
///   height_changed(nodes)          all nodes lie deeper or less deep than before
///
/// Each call is about one node n. Everything that changes the set of entries below n causes a call
/// for n: first for the node next to the change, then for its ancestors up to the root. Entries
/// that move and stay below n (a split of a grandchild) cause no call for n. Only the split of a
/// child does: child_split, for summaries that distinguish children (IR).
///
///   insert       entry_added for the leaf and every ancestor: O(height) calls
///   erase        entry_removed for the same nodes
///   split        node_created for the new sibling; for each child that goes over, entry_removed
///                from the old and entry_added to the new node (in a leaf) or subtree_removed and
///                subtree_added (above); then child_split for their parent
///   new root     node_created, subtree_added for both halves
///   dissolve     of a node below min_children: subtree_removed for every ancestor, node_freed;
///                later its children are inserted anew, entry_added or subtree_added along the path
///   lost root    node_freed
///   bulk load    for each node, children before parents: node_created, then entry_added or
///                subtree_added for each child
///
/// During a call:
///   - the summary of c is complete and right, so subtree_* may merge or subtract it instead of
///     looking at entries;
///   - the children of n and everything below c are in their new state, so that entries can be
///     enumerated (nodes.for_each_entry_below) or n be computed anew from its children;
///   - n may be overfull or below min_children and may still lack its parent, boxes above n may
///     still be too large, and a subtree that waits for its new place hangs nowhere.
///
/// height_changed is the last call of an insert, erase or bulk load, when all is in its place.
/// Until then a summary that depends on depth (Rt++) goes by levels, which never change, and by the
/// height it knows: the node of level l lies at depth height − 1 − l, and whatever lies at the root
/// or above it has no tokens. In height_changed it may take the new height and file all anew, or
/// wait: filing by an older height stays right and only prunes less. If it waits for a difference
/// of two, a tree that alternates between two heights is not filed anew each time.
#pragma once

#include "nearcast/index/parts/r_tree/nodes.h"

namespace nearcast {

struct NoSummary {
  void node_created(const RTreeNodes&, RNodeId) {}
  void node_freed(const RTreeNodes&, RNodeId) {}
  void entry_added(const RTreeNodes&, RNodeId, EntryId) {}
  void entry_removed(const RTreeNodes&, RNodeId, EntryId) {}
  void subtree_added(const RTreeNodes&, RNodeId, RNodeId) {}
  void subtree_removed(const RTreeNodes&, RNodeId, RNodeId) {}
  void child_split(const RTreeNodes&, RNodeId, RNodeId, RNodeId) {}
  void height_changed(const RTreeNodes&) {}
};

}  // namespace nearcast
