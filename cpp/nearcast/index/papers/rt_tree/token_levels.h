/// Which entries have which token as their i-th? The summary that Rt++ attaches to an R-tree. [Rt
/// §5.1 multiple representative tokens]
///
/// The tokens of an entry are taken rarest first. The first lies in a list of its ancestor of
/// level top(), the next one level below, and so on; whatever is left when the leaf is reached lies
/// there. So each token of an entry stands in exactly one list, on the path to its leaf.
///
///   paper        here                        meaning
///   I_n[t]       postings(), node and key    entries whose token for this node's level is t
///   s.T[i]       nth rarest in order()       fixed while the entry stays
///   level i      top() − level               levels count from the leaves here
///
/// top() is the level of the root's children, as in the paper, whose root has no list of its own;
/// in a tree of one leaf it is that leaf. When the tree grows, all is filed anew, unless that would
/// delay one insert for long: a tree of more than 4,096 entries stays filed by the height it had.
/// That stays right; a build of many at once files by the final height. When the root falls below
/// top(), all must be filed anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/index/papers/rt_tree/postings.h"
#include "nearcast/index/parts/r_tree/node_summary.h"
#include "nearcast/model/subscription_store.h"
#include "nearcast/text/token_order.h"

namespace nearcast {

class TokenLevels {
 public:
  explicit TokenLevels(const SubscriptionStore& store) : store_(store) {}

  const PostingTables& postings() const { return postings_; }  ///< a row is a node
  const TokenOrder& order() const { return order_; }
  std::uint32_t top() const { return header_.top; }
  std::uint32_t filings() const { return filings_; }  ///< how often all was filed anew, reordered

  void admit(std::span<const EntryId> entries);
  void forget(EntryId entry);

  void node_created(const RTreeNodes& nodes, RNodeId node);
  void node_freed(const RTreeNodes&, RNodeId node) { postings_.clear(raw(node)); }
  void entry_added(const RTreeNodes& nodes, RNodeId node, EntryId entry);
  void entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId entry);
  void subtree_added(const RTreeNodes& nodes, RNodeId node, RNodeId child);
  void subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId child);
  void child_split(const RTreeNodes&, RNodeId, RNodeId, RNodeId) {}
  void height_changed(const RTreeNodes& nodes);

  std::size_t memory_bytes() const;
  void check_invariants(const RTreeNodes& nodes) const;

 private:
  struct Header {
    std::uint32_t top, padding;
    std::uint64_t entries;
  };

  static std::uint32_t top_for(const RTreeNodes& nodes);
  void count(EntryId entry, int step);
  /// Fill `keys` with the entry's, rarest first.
  void sort_keys(EntryId entry, std::vector<TokenKey>& keys) const;
  std::span<const TokenKey> sorted_keys(EntryId entry);
  /// The part of an entry's sorted keys that its ancestor of this level has.
  std::span<const TokenKey> part_of_level(std::span<const TokenKey> sorted,
                                          std::uint32_t level) const;
  void file_anew(const RTreeNodes& nodes);
  void file_below(const RTreeNodes& nodes, RNodeId node);

  const SubscriptionStore& store_;
  Header header_{};
  TokenOrder order_;
  Array<std::uint32_t> frequencies_;  ///< by token: clauses that need it
  PostingTables postings_;
  bool is_new_tree_ = true;  ///< the next node is the first
  std::uint32_t filings_ = 0;
  // The keys of the last entry: it is filed at one node after the other.
  std::vector<TokenKey> sorted_;
  std::uint64_t sorted_of_ = kNone;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
};

}  // namespace nearcast
