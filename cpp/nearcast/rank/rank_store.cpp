#include "nearcast/rank/rank_store.h"

#include <vector>

namespace nearcast {

SubscriptionId RankStore::add(TokenSpan tokens, const Rect& area, const RankTerms& terms) {
  const Clause clause{tokens, {}};
  const Area given = area;
  const SubscriptionId id = subscriptions_.add({{&clause, 1}, &given});
  if (extras_.size() <= raw(id)) extras_.resize(raw(id) + 1);
  extras_[raw(id)] = {terms, weights_.sum(tokens)};
  return id;
}

void RankStore::remove(SubscriptionId id) { subscriptions_.remove(id); }

void RankStore::replace_area(SubscriptionId id, const Rect& area) {
  subscriptions_.replace_area(id, Area(area));
}

Rect RankStore::area(SubscriptionId id) const {
  return subscriptions_.bounds_are_exact(id) ? subscriptions_.bounds(id)
                                             : subscriptions_.split_box(id);
}

double RankStore::spatial(SubscriptionId id, const Place& place) const {
  if (!touches(subscriptions_.bounds(id), place))
    return 0;  // nearly always, and without more reads
  return spatial_similarity(Place::box(area(id)), place);
}

Prefixes RankStore::prefixes(SubscriptionId id, TokenSpan in_order) const {
  std::vector<double> weights;
  weights.reserve(in_order.size());
  for (const Token token : in_order) weights.push_back(weights_[token]);
  return {terms(id), weights, weight(id)};
}

void RankStore::start_epoch(std::uint64_t documents, std::span<const TokenWeights::Count> counts) {
  weights_.start_epoch(documents, counts);
  weigh_all();
}

void RankStore::end_epoch() {
  weights_.end_epoch();
  weigh_all();
}

void RankStore::weigh_all() {
  for_each([&](SubscriptionId id) { extras_[raw(id)].weight = weights_.sum(tokens(id)); });
}

std::size_t RankStore::memory_bytes() const {
  return subscriptions_.memory_bytes() + extras_.memory_bytes() + weights_.memory_bytes();
}

void RankStore::check_loaded(const Claims& known_tokens, std::size_t tokens) const {
  constexpr const char* kWhat = "the terms of a rank subscription";
  subscriptions_.check_loaded(known_tokens);
  weights_.check_loaded(tokens);
  expect(extras_.size() >= slots(), kWhat);
  for_each([&](SubscriptionId id) {
    const AreaKind kind = subscriptions_.area_kind(id);
    expect(kind == AreaKind::kBox || kind == AreaKind::kSplitBox, kWhat);
    expect(subscriptions_.is_only_clause(entry_of(id)), kWhat);
    const Clause clause = subscriptions_.clause(entry_of(id));
    expect(!clause.positive.empty() && clause.negative.empty(), kWhat);
    const auto [alpha, threshold] = terms(id);
    expect(alpha >= 0 && alpha <= 1 && threshold > 0 && threshold <= 1 &&
               weight(id) == weights_.sum(clause.positive),
           kWhat);
  });
}

void RankStore::save(ArchiveWriter& out) const {
  subscriptions_.save(out);
  extras_.save(out);
  weights_.save(out);
}

void RankStore::load(ArchiveReader& in) {
  subscriptions_.load(in);
  extras_.load(in);
  weights_.load(in);
}

}  // namespace nearcast
