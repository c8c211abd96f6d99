#include "nearcast/topk/search/backlog_search.h"

#include <algorithm>

namespace nearcast {

void BacklogSearch::insert_all() {
  state_.messages.for_each_by_age([&](MessageId id) { insert(id); });
}

/// Where a condition refuses some of the best, more of them are asked for until enough are left.
void BacklogSearch::best(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
                         WorkCounters& work) {
  for (std::size_t wanted = count;; wanted = 2 * wanted + 16) {
    out.clear();
    best_of_all(id, wanted, floor, out, work);
    if (!state_.has_condition(id)) return;
    const bool are_all = out.size() < wanted;
    std::erase_if(out, [&](const Held& held) { return !state_.accepts(id, held.message, facts_); });
    if (are_all || out.size() >= count) break;
  }
  if (out.size() > count) out.resize(count);
}

void BacklogSearch::best_of_all(SubscriptionId id, std::size_t count, Units floor,
                                std::vector<Held>& out, WorkCounters& work) {
  indexed_->best(id, count, floor, out, work);
  if (backlog_.empty() || count == 0) return;
  add_waiting(id, count, floor, out, work);
  keep_best(count, out);
}

/// Adds waiting messages; once there are `count`, only those that reach the last of the best.
void BacklogSearch::add_waiting(SubscriptionId id, std::size_t count, Units floor,
                                std::vector<Held>& out, WorkCounters& work) const {
  const TopSubscriptions::Record& record = state_.subscriptions[id];
  std::vector<Outline> words;
  for (const Token token : state_.subscriptions.tokens(id))
    words.push_back(outline_of({&token, 1}));
  const std::size_t many = 2 * count + 64;
  Units level = floor;
  const auto raise_level = [&] {
    keep_best(count, out);
    if (out.size() == count) level = std::max(floor, out.back().units);
  };
  raise_level();
  backlog_.for_each(words, [&](MessageId message) {
    const double distance = distance_between(record.at, state_.messages.centre(message));
    // One unit more than the best text at this distance gives: the score is summed in another order
    // and may be rounded differently.
    const double most = record.alpha * (1 - distance / state_.max_distance) + 1 - record.alpha;
    if (most * 1e9 + 1 < level) return;
    ++work.candidates;
    const double product = state_.product(id, message);
    if (product == 0) return;
    const Units units = units_of(state_.score(id, message, product));
    if (units < level) return;
    out.push_back({units, message});
    if (out.size() >= many) raise_level();
  });
}

void BacklogSearch::keep_best(std::size_t count, std::vector<Held>& out) const {
  const std::size_t kept = std::min(count, out.size());
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(kept), out.end(),
                    [&](const Held& a, const Held& b) { return is_better(a, b); });
  out.resize(kept);
}

}  // namespace nearcast
