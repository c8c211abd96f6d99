/// Rt++-tree: the i-th token of an entry lies in a list of its i-th ancestor. Going down the tree
/// finds its tokens one by one, the rarest first, and with the last one the match is proven. [Rt
/// §5.1 structure and updates, §5.2 filtering, Fig. 6]
///
///   paper      here                   meaning
///   I_n[t]     TokenLevels::postings  entries with token t at node n (rt_tree/token_levels.h)
///   cand_s     Tallies                counted down: tokens of an entry that are still missing
///   visitFlag  wanted children        where to go on
///
/// Structural proof [Rt §5.2 Lemma 4]: each token of an entry stands in exactly one list, and a
/// message looks at each list at most once. So an entry whose tally reaches zero has all its tokens
/// in the message; its box was tested when it was first met. Only NOT, and areas that are not
/// boxes, are left to model/semantics.h.
///
/// An insert or erase changes one list per token: O(height + tokens), but for the search of a list
/// (rt_tree/postings.h).
///
/// Departs from the paper:
///   - A box is tested when its entry is first met, not at the end: few entries are then counted,
///     and the tallies stay in the nearest cache.
///   - From a node the paper visits all children that touch the message as long as one entry is
///     incomplete; here only children on the way to the leaf of such an entry, which is known.
///   - One order for all places, the rarest token first; the paper also tries one per grid cell,
///     which would have to be kept for each entry.
///   - An entry without keywords has one token, which all messages have (rt_tree/token_key.h).
#pragma once

#include <vector>

#include "nearcast/index/papers/rt_tree/token_levels.h"
#include "nearcast/index/papers/rt_tree/tree_index.h"

namespace nearcast {

class RtPlusPlusTree final : public TokenTreeIndex<TokenLevels> {
 public:
  RtPlusPlusTree(const SubscriptionStore& store, const Parameters& parameters)
      : TokenTreeIndex(store, parameters, store) {}
  static std::vector<ParameterSpec> parameters() { return r_tree_parameters(); }

  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;
};

}  // namespace nearcast
