#include "nearcast/topk/ranking/posting_ranking.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

void PostingRanking::insert(MessageId id) {
  for (const Token token : state_.messages.tokens(id)) {
    if (raw(token) >= lists_.size()) lists_.resize(raw(token) + 1);
    postings_.push_back(lists_[raw(token)], id);
  }
}

void PostingRanking::erase(MessageId id) {
  for (const Token token : state_.messages.tokens(id)) {
    ListHandle& list = lists_[raw(token)];
    const std::span<const MessageId> all = postings_.view(list);
    const auto place = std::find(all.begin(), all.end(), id) - all.begin();
    postings_.swap_remove(list, static_cast<std::uint32_t>(place));
  }
}

void PostingRanking::clear() {
  for (ListHandle& list : lists_) postings_.release(list);
}

void PostingRanking::best(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
                          WorkCounters& work) {
  seen_.start(state_.vectors.slots());
  for (const Token token : state_.subscriptions.tokens(id)) {
    if (raw(token) >= lists_.size()) break;  // tokens ascend
    ++work.nodes_visited;
    for (const MessageId message : postings_.view(lists_[raw(token)])) {
      if (!seen_.first_visit(raw(message))) continue;
      ++work.candidates;
      const Units units = units_of(state_.score(id, message));
      if (units >= floor) out.push_back({units, message});
    }
  }
  const std::size_t wanted = std::min(count, out.size());
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(wanted), out.end(),
                    [&](const Held& a, const Held& b) { return ranks_before(a, b); });
  out.resize(wanted);
}

void PostingRanking::check_invariants() const {
  std::size_t postings = 0, expected = 0;
  for (const ListHandle& list : lists_) postings += list.size;
  state_.vectors.for_each([&](MessageId id) { expected += state_.messages.tokens(id).size(); });
  ensure(postings == expected, "posting ranking: as many postings as live messages have tokens");
}

}  // namespace nearcast
