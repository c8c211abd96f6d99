/// Builds sized lists from all subscriptions at once: count tokens, choose each entry's list, group
/// entries by list, write each list.
#include "nearcast/index/ours/sized_lists/sized_lists.h"

namespace nearcast {

using sized_lists::Entry;

/// From everything in the store, which already has what is being added.
void SizedLists::rebuild() {
  sized_lists::fit_frame(frame_, store_);
  frequencies_.clear();
  lists_.clear();
  std::uint64_t entries = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      count(store_.clause(entry), +1);
      ++entries;
    });
  });
  entries_ = entries;

  std::vector<std::uint32_t> starts(frequencies_.size() + 2);
  std::vector<Choice> choices;
  choices.reserve(entries);
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      choices.push_back(choose(store_.clause(entry)));
      ++starts[choices.back().list + 1];
    });
  });
  for (std::size_t list = 1; list < starts.size(); ++list) starts[list] += starts[list - 1];

  std::vector<Entry> grouped(entries);
  std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
  auto choice = choices.cbegin();
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      grouped[next[choice->list]++] = entry_for(entry, choice->second);
      ++choice;
    });
  });
  lists_.fill(starts, grouped);
}

}  // namespace nearcast
