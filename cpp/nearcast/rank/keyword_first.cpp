#include "nearcast/rank/keyword_first.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/rank/text_needs.h"
#include "nearcast/rank/verifier.h"

namespace nearcast {

void KeywordFirstRank::count(SubscriptionId id, int step) {
  for (const Token token : store_.tokens(id)) {
    if (frequencies_.size() <= raw(token)) frequencies_.resize(raw(token) + 1);
    frequencies_[raw(token)] += static_cast<std::uint32_t>(step);
  }
}

void KeywordFirstRank::place(SubscriptionId id) {
  if (home_lists_.size() <= raw(id)) home_lists_.resize(raw(id) + 1);
  const TokenSpan wanted = store_.tokens(id);
  std::vector<Token> tokens(wanted.begin(), wanted.end());
  std::stable_sort(tokens.begin(), tokens.end(),
                   [&](Token a, Token b) { return frequencies_[raw(a)] < frequencies_[raw(b)]; });
  const Prefixes prefixes = store_.prefixes(id, tokens);
  const bool is_near_without_text = prefixes.near == Prefixes::kNothingNeeded;
  const bool is_always_found = prefixes.far == Prefixes::kNothingNeeded;
  if (is_near_without_text) add(id, 0, is_always_found);
  if (is_always_found) return;
  const std::size_t end = is_near_without_text ? prefixes.far : prefixes.near;
  for (std::size_t i = 0; i < end; ++i) add(id, raw(tokens[i]) + 1, i < prefixes.far);
}

void KeywordFirstRank::add(SubscriptionId id, std::uint32_t list, bool is_anywhere) {
  if (lists_.size() <= list) lists_.resize(list + 1);
  homes_.push_back(home_lists_[raw(id)], {list, lists_[list].size});
  postings_.push_back(lists_[list], {store_.bounds(id), id, is_anywhere ? 1u : 0u});
}

void KeywordFirstRank::remove_postings(SubscriptionId id) {
  ListHandle& own = home_lists_[raw(id)];
  for (const Home& home : homes_.view(own)) {
    ListHandle& list = lists_[home.list];
    const std::uint32_t last = list.size - 1;
    const SubscriptionId moved = postings_.view(list)[last].id;
    postings_.swap_remove(list, home.position);
    if (home.position == last) continue;
    for (Home& other : homes_.view(home_lists_[raw(moved)])) {
      if (other.list == home.list) other.position = home.position;
    }
  }
  homes_.release(own);
}

void KeywordFirstRank::insert(SubscriptionId id) {
  count(id, +1);
  place(id);
}

void KeywordFirstRank::erase(SubscriptionId id) {
  remove_postings(id);
  count(id, -1);
}

void KeywordFirstRank::build(std::span<const SubscriptionId> ids) {
  // Count everything first: the rarest keyword is then the rarest of the whole.
  for (const SubscriptionId id : ids) count(id, +1);
  for (const SubscriptionId id : ids) place(id);
}

void KeywordFirstRank::reweigh() {
  for (ListHandle& list : lists_) postings_.release(list);
  for (ListHandle& own : home_lists_) homes_.release(own);
  store_.for_each([&](SubscriptionId id) { place(id); });
}

void KeywordFirstRank::rank(const Message& message, RankScratch& scratch, RankSink& sink) const {
  if (lists_.empty()) return;
  RankVerifier verifier(store_, message, scratch, sink);
  const auto scan = [&](const ListHandle& list) {
    if (list.size == 0) return;
    ++sink.work.nodes_visited;
    sink.work.candidates += list.size;
    for (const Posting& posting : postings_.view(list)) {
      if (posting.is_anywhere != 0 || touches(posting.box, message.place))
        verifier.propose(posting.id);
    }
  };
  scan(lists_[0]);
  for (const Token token : message.tokens) {
    if (raw(token) + 1 >= lists_.size()) break;  // tokens ascend
    scan(lists_[raw(token) + 1]);
  }
  verifier.finish();
}

std::size_t KeywordFirstRank::memory_bytes() const {
  return frequencies_.memory_bytes() + lists_.memory_bytes() + postings_.memory_bytes() +
         home_lists_.memory_bytes() + homes_.memory_bytes();
}

void KeywordFirstRank::check_invariants() const {
  std::size_t homes = 0, postings = 0;
  store_.for_each([&](SubscriptionId id) {
    for (const Home& home : homes_.view(home_lists_[raw(id)])) {
      ++homes;
      ensure(home.list < lists_.size() && home.position < lists_[home.list].size,
             "keyword-first: a subscription's home is outside its list");
      const Posting& posting = postings_.view(lists_[home.list])[home.position];
      ensure(posting.id == id, "keyword-first: a home holds another subscription");
      ensure(posting.box == store_.bounds(id), "keyword-first: a box is not its subscription's");
    }
  });
  for (const ListHandle& list : lists_) postings += list.size;
  ensure(homes == postings, "keyword-first: lists hold what no subscription knows of");
}

}  // namespace nearcast
