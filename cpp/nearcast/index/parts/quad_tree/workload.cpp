#include "nearcast/index/parts/quad_tree/workload.h"

#include <algorithm>
#include <vector>

namespace nearcast {
namespace {

constexpr std::size_t kMaxPlaces = 50'000;  ///< of more, evenly chosen ones are looked at

Place centre_of(const Rect& box) {
  return Place::at({(box.west + box.east) / 2, (box.south + box.north) / 2});
}

}  // namespace

void Workload::count(const Clause& clause, int step) {
  clauses_ += static_cast<std::uint64_t>(step);
  for (const Token token : clause.positive) {
    if (frequencies_.size() <= raw(token)) frequencies_.resize(raw(token) + 1);
    frequencies_[raw(token)] += static_cast<std::uint32_t>(step);
  }
}

void Workload::count_all(const SubscriptionStore& store) {
  frequencies_.clear();
  clauses_ = 0;
  store.for_each([&](SubscriptionId id) {
    store.for_each_entry(id, [&](EntryId entry) { count(store.clause(entry), +1); });
  });
  built_ = clauses_;
}

Token Workload::rarest(const Clause& clause) const {
  Token rarest = kUnknownToken;
  for (const Token token : clause.positive) {
    if (rarest == kUnknownToken || frequencies_[raw(token)] < frequencies_[raw(rarest)]) {
      rarest = token;
    }
  }
  return rarest;
}

void Workload::learn(const MessageSample& sample) {
  heard_.clear();
  for (const Token token : sample.tokens) {
    if (heard_.size() <= raw(token)) heard_.resize(raw(token) + 1);
    ++heard_[raw(token)];
  }
  messages_ = sample.size();
  std::vector<Place> places;
  const std::size_t step = sample.size() / kMaxPlaces + 1;
  for (std::size_t i = 0; i < sample.size(); i += step) places.push_back(sample.places[i]);
  density_.learn(places);
}

void Workload::assume(const SubscriptionStore& store) {
  if (messages_ != 0) return;
  std::vector<Place> places;
  const std::size_t step = store.slots() / kMaxPlaces + 1;
  for (std::size_t slot = 0; slot < store.slots(); slot += step) {
    const SubscriptionId id{static_cast<std::uint32_t>(slot)};
    // Subscriptions without an area do not show where messages are.
    if (!store.is_live(id) || store.bounds(id) == kWorld) continue;
    places.push_back(centre_of(store.bounds(id)));
  }
  density_.learn(places);
}

double Workload::chance(Token token) const {
  if (token == kUnknownToken) return 1;
  // Half a message more than seen: a token that the sample does not have may still occur.
  const Array<std::uint32_t>& counts = messages_ != 0 ? heard_ : frequencies_;
  const auto total = static_cast<double>(messages_ != 0 ? messages_ : clauses_);
  const double seen = raw(token) < counts.size() ? counts[raw(token)] : 0;
  return std::min(1.0, (seen + 0.5) / (total + 0.5));
}

std::size_t Workload::memory_bytes() const {
  return frequencies_.memory_bytes() + heard_.memory_bytes() + density_.memory_bytes();
}

}  // namespace nearcast
