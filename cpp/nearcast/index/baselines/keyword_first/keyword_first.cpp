#include "nearcast/index/baselines/keyword_first/keyword_first.h"

#include "nearcast/base/errors.h"
#include "nearcast/model/semantics.h"

namespace nearcast {

void KeywordFirst::count(const Clause& clause, int step) {
  for (const Token token : clause.positive) {
    if (frequencies_.size() <= raw(token)) frequencies_.resize(raw(token) + 1);
    frequencies_[raw(token)] += static_cast<std::uint32_t>(step);
  }
}

std::uint32_t KeywordFirst::choose_list(const Clause& clause) const {
  std::uint32_t list = 0, least = 0xFFFFFFFFu;
  for (const Token token : clause.positive) {
    if (frequencies_[raw(token)] >= least) continue;
    least = frequencies_[raw(token)];
    list = raw(token) + 1;
  }
  return list;
}

void KeywordFirst::place(EntryId entry, const Rect& box) {
  const std::uint32_t list = choose_list(store_.clause(entry));
  if (lists_.size() <= list) lists_.resize(list + 1);
  homes_.set(entry, {list, lists_[list].size});
  postings_.push_back(lists_[list], {box, entry, 0});
}

void KeywordFirst::insert(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    count(store_.clause(entry), +1);
    place(entry, store_.bounds(id));
  });
}

void KeywordFirst::build(std::span<const SubscriptionId> ids) {
  // Count everything first: the rarest keyword is then the rarest of the whole, not of what came
  // before.
  for (const SubscriptionId id : ids) {
    store_.for_each_entry(id, [&](EntryId entry) { count(store_.clause(entry), +1); });
  }
  for (const SubscriptionId id : ids) {
    store_.for_each_entry(id, [&](EntryId entry) { place(entry, store_.bounds(id)); });
  }
}

void KeywordFirst::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    const Home home = homes_[entry];
    ListHandle& list = lists_[home.list];
    const EntryId last = postings_.view(list).back().entry;
    postings_.swap_remove(list, home.position);
    if (last != entry) homes_[last].position = home.position;
    count(store_.clause(entry), -1);
  });
}

void KeywordFirst::scan(const ListHandle& list, const Message& message, MatchScratch& scratch,
                        MatchSink& sink) const {
  ++sink.work.nodes_visited;
  sink.work.candidates += list.size;
  for (const Posting& posting : postings_.view(list)) {
    if (!touches(posting.box, message.place)) continue;
    if (matches(store_, posting.entry, message, &scratch.shapes) &&
        scratch.first_report(store_, posting.entry)) {
      sink.accept(store_.owner(posting.entry));
    }
  }
}

void KeywordFirst::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  if (lists_.empty()) return;
  if (lists_[0].size != 0) scan(lists_[0], message, scratch, sink);
  for (const Token token : message.tokens) {
    if (raw(token) + 1 >= lists_.size()) break;  // tokens ascend
    const ListHandle& list = lists_[raw(token) + 1];
    if (list.size != 0) scan(list, message, scratch, sink);
  }
}

std::size_t KeywordFirst::memory_bytes() const {
  return frequencies_.memory_bytes() + lists_.memory_bytes() + postings_.memory_bytes() +
         homes_.memory_bytes();
}

void KeywordFirst::check_invariants() const {
  std::size_t entries = 0, postings = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      const Home home = homes_[entry];
      ensure(home.list < lists_.size() && home.position < lists_[home.list].size,
             "keyword-first: an entry's home is outside its list");
      const Posting& posting = postings_.view(lists_[home.list])[home.position];
      ensure(posting.entry == entry, "keyword-first: an entry's home holds another entry");
      ensure(posting.box == store_.bounds(id),
             "keyword-first: a posting's box is not its subscription's");
    });
  });
  for (const ListHandle& list : lists_) postings += list.size;
  ensure(entries == postings, "keyword-first: lists hold entries that no subscription has");
}

}  // namespace nearcast
