/// IR-tree, adapted to matching: an R-tree with an inverted file per node, which tells the children
/// that have a token. A message goes down where its place touches the box and one of its tokens
/// leads to the child. [Rt §2.3 IRTree baseline, §7.3 comparison]
///
///   paper                here                                    meaning
///   inverted index       ChildTokens (ir_tree/child_tokens.h)    token to children, in leaves to
///                                                                entries
///   textual constraint   number of lists an entry was found in   equals the number of its tokens
///
/// It prunes as the Rt-tree does, since a child is visited as soon as it shares one token. What
/// differs is the price: tokens are looked up once per node instead of once per child, and the
/// lists of frequent tokens are read even for children far away.
///
/// Structural proof: in a leaf each token of an entry stands in one list, so an entry that is found
/// as often as it has tokens has all of them in the message. Only NOT, and areas that are not
/// boxes, are left to model/semantics.h.
///
/// Departs from the original IR-tree, which sorts documents by score: no weights in the lists, and
/// nothing is sorted. The paper only sketches its adaptation; this is a reconstruction.
/// Entries are clauses; one without keywords is filed under a token that all messages have
/// (rt_tree/token_key.h).
#pragma once

#include <vector>

#include "nearcast/index/baselines/ir_tree/child_tokens.h"
#include "nearcast/index/papers/rt_tree/tree_index.h"

namespace nearcast {

class IrTree final : public TokenTreeIndex<ChildTokens> {
 public:
  IrTree(const SubscriptionStore& store, const Parameters& parameters)
      : TokenTreeIndex(store, parameters, store) {}
  static std::vector<ParameterSpec> parameters() { return r_tree_parameters(); }

  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;
};

}  // namespace nearcast
