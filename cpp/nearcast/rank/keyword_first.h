/// Keyword-first, for rank mode: each subscription is in the lists of those keywords of which a
/// message must have one; a message scans the lists of its tokens and scores what it finds. [Rt
/// §2.3 keyword-first baseline, §6.2 prefixes]
///
///   paper      here            meaning
///   PRE(s)     postings        one per token of the prefix, rarest first
///   PRE'(s)    is_anywhere     of a posting: its token is in the prefix for messages elsewhere
///
/// The strongest simple baseline, as in matching: lists are contiguous and carry the box, so that a
/// scan reads straight through memory; scalar tests. A subscription whose area alone may reach the
/// threshold (θ ≤ α) is in a list that every message scans.
#pragma once

#include <vector>

#include "nearcast/base/list_arena.h"
#include "nearcast/index/parameters.h"
#include "nearcast/rank/rank_index.h"

namespace nearcast {

class KeywordFirstRank final : public RankIndex {
 public:
  KeywordFirstRank(const RankStore& store, const Parameters&) : RankIndex(store) {}

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void reweigh() override;
  void rank(const Message& message, RankScratch& scratch, RankSink& sink) const override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

 private:
  struct Posting {
    Rect box;
    SubscriptionId id;
    std::uint32_t is_anywhere;  ///< 1: a candidate wherever the message is
  };
  struct Home {
    std::uint32_t list;      ///< 0: found without text; otherwise 1 + token
    std::uint32_t position;  ///< in that list
  };

  void count(SubscriptionId id, int step);
  void place(SubscriptionId id);
  void add(SubscriptionId id, std::uint32_t list, bool is_anywhere);
  void remove_postings(SubscriptionId id);

  Array<std::uint32_t> frequencies_;  ///< by token: subscriptions that have it
  Array<ListHandle> lists_;
  ListArena<Posting> postings_;
  Array<ListHandle> home_lists_;  ///< by subscription
  ListArena<Home> homes_;
};

}  // namespace nearcast
