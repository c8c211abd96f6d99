/// Route lists: our own rank index, which serves the kind `sized-lists` and so `auto`. Each
/// subscription is filed under the tokens by which a message that reaches its threshold can find it
/// (routes.h), in one of three structures:
///
///   near lists       found by a token and by place: numbered lists of index/ours/sized_lists, with
///                    the second token as signature, where only one is possible. List 0 has
///                    subscriptions whose threshold place alone may reach
///   anywhere lists   found by one token, at any place (anywhere_lists.h). List 0 has subscriptions
///                    whose threshold every message may reach
///   pairs            found by two tokens, at any place: rows by first, keys by second token
///
/// Scoring reads one record of 32 bytes (score_records.h).
///
/// Structural proof: a subscription of one keyword that text alone may satisfy is an answer when
/// its keyword is there; its score follows from its cells, unless they are equal to the message's.
/// All others are scored.
///
/// Tokens have an order, rarest first, which is fixed between builds (text/token_order.h): so the
/// routes computed when a subscription is erased are those by which it was inserted. Large bulk
/// loads, a new epoch and the first growth build everything anew.
#pragma once

#include <vector>

#include "nearcast/index/ours/sized_lists/numbered_lists.h"
#include "nearcast/index/papers/rt_tree/postings.h"
#include "nearcast/index/parameters.h"
#include "nearcast/rank/rank_index.h"
#include "nearcast/rank/route_lists/anywhere_lists.h"
#include "nearcast/rank/route_lists/routes.h"
#include "nearcast/rank/route_lists/score_records.h"
#include "nearcast/text/token_order.h"

namespace nearcast {

class RouteLists final : public RankIndex {
 public:
  RouteLists(const RankStore& store, const Parameters& parameters);

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  std::vector<std::uint32_t> arrange(const ClauseRows& rows) const override;
  void build(std::span<const SubscriptionId> ids) override;
  void reweigh() override { rebuild(); }
  void prefetch(const Message& message) const override;
  void rank(const Message& message, RankScratch& scratch, RankSink& sink) const override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

 private:
  static std::uint32_t list_of(Token first) { return first == kUnknownToken ? 0 : raw(first) + 1; }

  void add(SubscriptionId id);
  void rebuild();
  void fill_near(std::span<const std::pair<std::uint32_t, sized_lists::Entry>> listed);
  /// Fills routes_; the tokens are known to order_.
  void find_routes(SubscriptionId id) const;
  sized_lists::Entry near_entry(SubscriptionId id, Token second) const;
  void add_far(SubscriptionId id);

  bool uses_avx2_;
  std::uint64_t size_ = 0;
  sized_lists::Frame frame_;
  TokenOrder order_;
  sized_lists::NumberedLists near_;
  AnywhereLists anywhere_;
  PostingTables pairs_;
  ScoreRecords records_;
  // For changes only, which run alone.
  mutable RankRoutes routes_;
  mutable std::vector<Token> ordered_;
  mutable std::vector<double> weights_;
};

}  // namespace nearcast
