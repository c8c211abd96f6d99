#include "nearcast/index/baselines/rq_tree/rq_tree.h"

#include "nearcast/base/errors.h"
#include "nearcast/index/parts/quad_tree/quad_parameters.h"
#include "nearcast/index/parts/quad_tree/verify.h"

namespace nearcast {

RqTree::RqTree(const SubscriptionStore& store, const Parameters& parameters)
    : MatchIndex(store), areas_(quad_limits(parameters), store, workload_, copy_cost(parameters)) {}

std::vector<ParameterSpec> RqTree::parameters() { return quad_parameters(64, 10); }

Token RqTree::choose(EntryId entry) {
  const Token key = workload_.rarest(store_.clause(entry));
  keys_.set(entry, key);
  if (lists_.size() <= row(key)) lists_.resize(row(key) + 1);
  return key;
}

void RqTree::build(std::span<const SubscriptionId> ids) {
  if (ids.size() > workload_.clauses()) return rebuild();
  for (const SubscriptionId id : ids) {
    store_.for_each_entry(id, [&](EntryId entry) {
      workload_.count(store_.clause(entry), +1);
      placing_ = choose(entry);
      areas_.insert(lists_[row(placing_)], item_of(entry), workload_.chance(placing_));
    });
  }
  // After all are inserted, because the store has them all already.
  if (workload_.has_outgrown_build()) rebuild();
}

void RqTree::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    areas_.erase(lists_[row(keys_[entry])], item_of(entry));
    workload_.count(store_.clause(entry), -1);
  });
}

void RqTree::learn(const MessageSample& sample) {
  workload_.learn(sample);
  if (workload_.clauses() != 0) rebuild();
}

/// From everything in the store, which already has what is being added.
void RqTree::rebuild() {
  workload_.assume(store_);
  workload_.count_all(store_);
  lists_ = {};
  areas_.clear();
  std::vector<std::uint32_t> ends;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      const std::size_t list = row(choose(entry));
      if (ends.size() <= list) ends.resize(list + 1);
      ++ends[list];
    });
  });
  for (std::size_t list = 1; list < ends.size(); ++list) ends[list] += ends[list - 1];
  std::vector<EntryId> grouped(workload_.clauses());
  std::vector<std::uint32_t> starts(ends);
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) { grouped[--starts[row(keys_[entry])]] = entry; });
  });
  for (std::size_t list = 0; list < ends.size(); ++list) {
    std::vector<Item> items;
    for (std::uint32_t i = starts[list]; i < ends[list]; ++i) items.push_back(item_of(grouped[i]));
    if (items.empty()) continue;
    placing_ = keys_[items[0].entry];
    areas_.build(lists_[list], std::move(items), workload_.chance(placing_));
  }
}

void RqTree::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  const auto look_into = [&](std::size_t list) {
    areas_.search(lists_[list], message.place, sink.work,
                  [&](std::span<const QuadPosting> postings) {
                    verify(store_, postings, message, scratch, sink);
                  });
  };
  if (!lists_.empty()) look_into(0);
  for (const Token token : message.tokens) {
    if (row(token) >= lists_.size()) break;  // tokens ascend
    look_into(row(token));
  }
}

std::size_t RqTree::memory_bytes() const {
  return workload_.memory_bytes() + keys_.memory_bytes() + lists_.memory_bytes() +
         areas_.memory_bytes();
}

void RqTree::check_invariants() const {
  std::size_t entries = 0, copies = 0, postings = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      const Clause clause = store_.clause(entry);
      const Token key = keys_[entry];
      ensure(key == kUnknownToken ? clause.positive.empty() : contains(clause.positive, key),
             "rq-tree: an entry stands under a keyword that is not its own");
      ensure(row(key) < lists_.size(), "rq-tree: an entry's list is not there");
      copies += areas_.check_item(lists_[row(key)], item_of(entry));
    });
  });
  for (const AreaList& list : lists_) postings += areas_.check(list);
  ensure(copies == postings, "rq-tree: lists hold entries that no subscription has");
  ensure(entries == workload_.clauses(), "rq-tree: clauses are counted wrongly");
}

}  // namespace nearcast
