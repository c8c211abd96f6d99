#include "nearcast/topk/arrival/term_at_a_time.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

void TermAtATimeArrival::insert(SubscriptionId id) {
  if (raw(id) >= sums_.size()) sums_.resize(raw(id) + 1);
  for (const Token token : state_.subscriptions.tokens(id)) {
    if (raw(token) >= lists_.size()) lists_.resize(raw(token) + 1);
    const double weight = (*state_.weights)[token] / state_.subscriptions[id].length;
    entries_.push_back(lists_[raw(token)], {id, static_cast<float>(weight)});
  }
}

void TermAtATimeArrival::erase(SubscriptionId id) {
  for (const Token token : state_.subscriptions.tokens(id)) {
    const std::span<const Entry> all = entries_.view(lists_[raw(token)]);
    const auto place = std::ranges::find(all, id, &Entry::id);
    ensure(place != all.end(), "term-at-a-time: an entry is missing");
    entries_.swap_remove(lists_[raw(token)], static_cast<std::uint32_t>(place - all.begin()));
  }
}

void TermAtATimeArrival::clear() {
  lists_.clear();
  entries_ = {};
}

void TermAtATimeArrival::find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) {
  newcomer_.read(state_, message);
  met_.clear();
  candidates_.clear();
  for (std::size_t i = 0; i < newcomer_.size(); ++i) {
    const Newcomer::Term& term = newcomer_.terms[i];
    if (raw(term.token) >= lists_.size()) continue;
    ++work.nodes_visited;
    for (const Entry& entry : entries_.view(lists_[raw(term.token)])) {
      float& sum = sums_[raw(entry.id)];
      if (sum == 0) met_.push_back(entry.id);
      sum += static_cast<float>(term.weight) * entry.weight;
    }
  }
  work.candidates += met_.size();
  for (const SubscriptionId id : met_) {
    // Sums of floats are a filter; what passes is scored exactly.
    constexpr double kRounding = 1e-5;
    const TopSubscriptions::Record& record = state_.subscriptions[id];
    const double score = top_score(record.alpha, distance_between(record.at, newcomer_.at),
                                   state_.max_distance, sums_[raw(id)], 1);
    sums_[raw(id)] = 0;
    if (score + kRounding >= state_.buffers.threshold(id) * 1e-9) candidates_.push_back(id);
  }
  verify(state_, message, candidates_, out, work);
}

void TermAtATimeArrival::check_invariants() const {
  std::size_t filed = 0, wanted = 0;
  for (const ListHandle& list : lists_) filed += list.size;
  state_.subscriptions.for_each(
      [&](SubscriptionId id) { wanted += state_.subscriptions.tokens(id).size(); });
  ensure(filed == wanted, "term-at-a-time: entries are missing or left over");
  for (const float sum : sums_) ensure(sum == 0, "term-at-a-time: a sum was left behind");
}

}  // namespace nearcast
