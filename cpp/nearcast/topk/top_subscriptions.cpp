#include "nearcast/topk/top_subscriptions.h"

#include <algorithm>
#include <cmath>

namespace nearcast {

void TopSubscriptions::add(SubscriptionId id, TokenSpan tokens, const TopTerms& terms,
                           const TokenWeights& weights) {
  if (raw(id) >= slots()) records_.resize(raw(id) + 1);
  const auto count = static_cast<std::uint32_t>(tokens.size());
  const std::uint32_t position = tokens_.allocate(1 + count);
  *tokens_.at(position) = Token{count};
  std::copy(tokens.begin(), tokens.end(), tokens_.at(position) + 1);
  records_[raw(id)] = {terms.at,
                       terms.alpha,
                       vector_length(tokens, {}, weights),
                       kLowestUnits,
                       terms.k,
                       position,
                       {},
                       0};
  ++size_;
}

void TopSubscriptions::remove(SubscriptionId id) {
  tokens_.free(records_[raw(id)].tokens, 1 + static_cast<std::uint32_t>(tokens(id).size()));
  records_[raw(id)] = Record{};
  --size_;
}

void TopSubscriptions::reweigh(const TokenWeights& weights) {
  for_each([&](SubscriptionId id) {
    records_[raw(id)].length = vector_length(tokens(id), {}, weights);
  });
}

void TopSubscriptions::check_loaded(const Claims& known_tokens) const {
  constexpr const char* kWhat = "the terms of a top subscription";
  Claims places = tokens_.claim_free();
  std::size_t found = 0;
  for_each([&](SubscriptionId id) {
    const Record& record = records_[raw(id)];
    expect(std::fabs(record.at.lon) <= 180 && std::fabs(record.at.lat) <= 90 && record.alpha >= 0 &&
               record.alpha <= 1 && record.k >= 1 && record.k <= kMaxK &&
               record.buffer.refill == Refill::kNo && !std::isnan(record.threshold),
           kWhat);
    expect(record.tokens < tokens_.places(), kWhat);
    const std::uint64_t count = raw(*tokens_.at(record.tokens));
    expect(count >= 1, kWhat);
    ListArena<Token>::claim(places, record.tokens, 1 + count, kWhat);
    const TokenSpan own = tokens(id);
    for (std::size_t i = 0; i < own.size(); ++i) {
      expect(known_tokens.has(raw(own[i])) && (i == 0 || own[i - 1] < own[i]), kWhat);
    }
    ++found;
  });
  expect(found == size_, kWhat);
}

void TopSubscriptions::save(ArchiveWriter& out) const {
  out.value(static_cast<std::uint64_t>(size_));
  records_.save(out);
  tokens_.save(out);
}

void TopSubscriptions::load(ArchiveReader& in) {
  size_ = in.value<std::uint64_t>();
  records_.load(in);
  tokens_.load(in);
}

}  // namespace nearcast
