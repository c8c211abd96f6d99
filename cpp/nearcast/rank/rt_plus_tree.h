/// Rt+-tree, for rank mode: nodes know the prefixes of the subscriptions below them, one set for
/// messages that touch the node's box and one for those that do not; a message goes down where it
/// has a token of the set that applies to it. [Rt §6.2]
///
///   paper      here                                 meaning
///   PRE(n)     TokenCounts<PrefixKeys<kTouches>>    a message that touches needs one of these
///   PRE'(n)    TokenCounts<PrefixKeys<kMisses>>     the same for a message elsewhere
///
/// Departs from the paper as rank/text_needs.h says. The prefix begins with the rarest token, as
/// `representative=idf` does in matching; the other ways to choose a representative have no meaning
/// for prefixes and are ignored.
#pragma once

#include <memory>

#include "nearcast/index/papers/rt_tree/token_counts.h"
#include "nearcast/rank/prefix_keys.h"
#include "nearcast/rank/rank_tree.h"
#include "nearcast/rank/summary_pair.h"

namespace nearcast {

class RtPlusTreeRank final : public RankIndex {
 public:
  RtPlusTreeRank(const RankStore& store, const Parameters& parameters);

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void reweigh() override;
  void rank(const Message& message, RankScratch& scratch, RankSink& sink) const override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override { tree_->check_invariants(); }

 private:
  using Near = TokenCounts<PrefixKeys<Contact::kTouches>>;
  using Far = TokenCounts<PrefixKeys<Contact::kMisses>>;
  using Tree = EntryTree<SummaryPair<Near, Far>>;

  void make_tree();

  RTreeLimits limits_;
  std::unique_ptr<PrefixStore> prefixes_;  ///< the tree's summary refers to it
  std::unique_ptr<Tree> tree_;
};

}  // namespace nearcast
