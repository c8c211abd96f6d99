#include "nearcast/base/errors.h"
#include "nearcast/index/baselines/grid_index/grid_index.h"

namespace nearcast {

void GridIndex::check_invariants() const {
  std::size_t entries = 0, copies = 0, postings = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      grid_.for_each_home(store_.bounds(id), [&](std::uint32_t cell) {
        ++copies;
        const std::uint32_t list = list_at(cell, keys_[entry]);
        ensure(list != subscriptions_.kNone, "grid index: an entry's list is not there");
        const QuadPosting* found = postings_.find(subscriptions_[list], raw(entry));
        ensure(found != nullptr && covers(found->box(), store_.bounds(id)),
               "grid index: an entry is not in one of its cells");
      });
    });
  });
  for (std::uint32_t row = 0; row < subscriptions_.rows(); ++row) {
    subscriptions_.check(row);
    for (std::uint32_t list = subscriptions_.first_of(row); list != subscriptions_.kNone;
         list = subscriptions_.next_after(list)) {
      postings_.check(subscriptions_[list]);
      postings += subscriptions_[list].size;
    }
  }
  ensure(copies == postings, "grid index: lists hold entries that no subscription has");
  ensure(entries == workload_.clauses(), "grid index: clauses are counted wrongly");
  if (messages_ != nullptr) kept_.check();
}

}  // namespace nearcast
