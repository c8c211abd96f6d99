#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/index/grid_index/grid_index.h"

namespace nearcast {

void GridIndex::check_invariants() const {
  std::size_t entries = 0, copies = 0, postings = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      grid_.for_each_home(store_.bounds(id), [&](std::uint32_t cell) {
        ++copies;
        const Address at = address(cell, keys_[entry]);
        const std::uint32_t list = subscriptions_.find(at.row, at.column);
        ensure(list != subscriptions_.kNone, "grid index: an entry's list is not there");
        const auto all = postings_.view(subscriptions_[list]);
        const auto found = std::ranges::find(all, entry, &QuadPosting::entry);
        ensure(found != all.end() && covers(found->box(), store_.bounds(id)),
               "grid index: an entry is not in one of its cells");
      });
    });
  });
  for (std::uint32_t row = 0; row < subscriptions_.rows(); ++row) {
    subscriptions_.check(row);
    for (std::uint32_t list = subscriptions_.first_of(row); list != subscriptions_.kNone;
         list = subscriptions_.next_after(list)) {
      postings += subscriptions_[list].size;
    }
  }
  ensure(copies == postings, "grid index: lists hold entries that no subscription has");
  ensure(entries == workload_.clauses(), "grid index: clauses are counted wrongly");
  if (messages_ == nullptr) return;
  lists_.check();
  for (std::uint32_t row = 0; row < message_lists_.rows(); ++row) message_lists_.check(row);
  lists_.for_each([&](MessageId id) {
    grid_.for_each_home(messages_->place(id), [&](std::uint32_t cell) {
      const Address at = address(cell, kUnknownToken);
      std::vector<MessageId> filed;
      lists_.copy_to(filed, message_lists_.find(at.row, at.column));
      ensure(std::ranges::count(filed, id) == 1, "grid index: a message is not in its cell");
    });
  });
}

}  // namespace nearcast
