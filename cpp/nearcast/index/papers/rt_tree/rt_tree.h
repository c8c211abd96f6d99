/// Rt-tree: an R-tree whose nodes know which tokens occur below them; a message goes down where its
/// place touches the box and a token of its own occurs. [Rt §3.1 structure and updates, §3.2
/// filtering, Fig. 3]
///
///   paper           here                 meaning
///   b, B            min_children, max_children
///   TokenSet        TokenCounts          tokens below a node, counted (rt_tree/token_counts.h)
///   MBR filter      RTree::search        the box does not touch the place
///   token filter    TokenFilter          no common token (rt_tree/token_filter.h)
///   verification    model/semantics.h    each entry of a leaf whose box touches
///
/// An insert or erase changes the tables of all nodes on its path: O(height · tokens).
///
/// Departs from the paper: entries are clauses, so a subscription with OR has several and is
/// reported once; a clause without keywords passes every token filter (rt_tree/token_key.h);
/// candidates are verified when found, not collected first; tokens that a node lacks are not looked
/// up below it. The filter serves point and range messages alike.
#pragma once

#include "nearcast/index/papers/rt_tree/token_counts.h"
#include "nearcast/index/papers/rt_tree/tree_index.h"

namespace nearcast {

/// An entry is filed under all its positive tokens.
class AllTokens {
 public:
  explicit AllTokens(const SubscriptionStore& store) : store_(store) {}

  template <typename Visit>
  void for_each_key(EntryId entry, Visit&& visit) const {
    nearcast::for_each_key(store_.clause(entry), visit);
  }
  void admit(std::span<const EntryId>) {}
  void forget(EntryId) {}
  std::size_t memory_bytes() const { return 0; }
  void check_invariants() const {}

 private:
  const SubscriptionStore& store_;
};

class RtTree final : public TokenTreeIndex<TokenCounts<AllTokens>> {
 public:
  RtTree(const SubscriptionStore& store, const Parameters& parameters)
      : TokenTreeIndex(store, parameters, store) {}
  static std::vector<ParameterSpec> parameters() { return r_tree_parameters(); }

  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;
};

}  // namespace nearcast
