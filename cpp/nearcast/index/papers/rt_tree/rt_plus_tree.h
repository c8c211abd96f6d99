/// Rt+-tree: an Rt-tree in which one token stands for each entry. Its nodes have fewer tokens, so
/// they prune more and take less memory. [Rt §4.1 structure and updates, §4.2 representatives]
///
///   paper                       here               meaning
///   representative-token set    TokenCounts        representatives below a node, counted
///   representative token        Representatives    of an entry (rt_tree/representatives.h)
///
/// Filter and verification are the Rt-tree's (rt_tree/rt_tree.h), with its departures; Lemma 1
/// holds for clauses with NOT as well, since a match has all positive tokens. An insert or erase
/// changes one count per node of its path: O(height).
#pragma once

#include <vector>

#include "nearcast/index/papers/rt_tree/representatives.h"
#include "nearcast/index/papers/rt_tree/token_counts.h"
#include "nearcast/index/papers/rt_tree/tree_index.h"

namespace nearcast {

class RtPlusTree final : public TokenTreeIndex<TokenCounts<Representatives>> {
 public:
  RtPlusTree(const SubscriptionStore& store, const Parameters& parameters)
      : TokenTreeIndex(store, parameters, store, parameters) {}
  static std::vector<ParameterSpec> parameters();

  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;
};

}  // namespace nearcast
