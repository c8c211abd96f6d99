/// Which child has which token? The summary that the IR-tree attaches to an R-tree: an inverted
/// file per node. [Rt §2.3 spatial keyword search based method]
///
/// In a leaf a token leads to the entries that have it, above to the children with such an entry
/// below them. So a child is in its parent's list of a token exactly if its own list is not empty,
/// which also tells when to take it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nearcast/index/papers/rt_tree/postings.h"
#include "nearcast/index/parts/r_tree/node_summary.h"
#include "nearcast/model/subscription_store.h"

namespace nearcast {

class ChildTokens {
 public:
  explicit ChildTokens(const SubscriptionStore& store) : store_(store) {}

  /// A row is a node; items are its entries in a leaf, its children's node ids above.
  const PostingTables& postings() const { return postings_; }

  void admit(std::span<const EntryId>) {}
  void forget(EntryId) {}

  void node_created(const RTreeNodes&, RNodeId node) { postings_.add_row(raw(node)); }
  void node_freed(const RTreeNodes&, RNodeId node) { postings_.clear(raw(node)); }
  void entry_added(const RTreeNodes& nodes, RNodeId node, EntryId entry);
  void entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId entry);
  void subtree_added(const RTreeNodes& nodes, RNodeId node, RNodeId child);
  void subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId child);
  void child_split(const RTreeNodes& nodes, RNodeId node, RNodeId child, RNodeId sibling);
  void height_changed(const RTreeNodes&) {}

  std::size_t memory_bytes() const { return postings_.memory_bytes(); }
  void check_invariants(const RTreeNodes& nodes) const;

 private:
  void list_child(RNodeId node, TokenKey key, RNodeId child);
  void unlist_if_lost(RNodeId node, TokenKey key, RNodeId child);
  std::size_t check_below(const RTreeNodes& nodes, RNodeId node) const;

  const SubscriptionStore& store_;
  PostingTables postings_;
  RNodeId told_last_ = kNoRNode;  ///< an entry that comes or goes is told along its path upward
};

}  // namespace nearcast
