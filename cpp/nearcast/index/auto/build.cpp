/// Building `auto` from everything at once: count, choose, group by list, write each list.
#include <algorithm>

#include "nearcast/index/auto/auto_index.h"

namespace nearcast {

using automatic::Entry;
using automatic::Head;

namespace {

constexpr std::size_t kFrameSample = 50'000;

}  // namespace

void AutoIndex::fit_frame() {
  const std::size_t step = std::max<std::size_t>(1, store_.slots() / kFrameSample);
  std::vector<double> lons, lats;
  for (std::size_t slot = 0; slot < store_.slots(); slot += step) {
    const SubscriptionId id{static_cast<std::uint32_t>(slot)};
    if (!store_.is_live(id)) continue;
    const Rect& box = store_.bounds(id);
    if (box == kWorld) continue;
    lons.insert(lons.end(), {box.west, box.east});
    lats.insert(lats.end(), {box.south, box.north});
  }
  frame_.fit(lons, lats);
}

/// Everything in the store, which already has what is being added.
void AutoIndex::rebuild() {
  fit_frame();
  frequencies_.clear();
  heads_ = {};
  smalls_ = {};
  heavies_ = {};
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
  fill(starts, grouped);
}

void AutoIndex::fill(std::span<const std::uint32_t> starts, std::span<Entry> entries) {
  std::size_t used = starts.size() - 1;
  while (used > 0 && starts[used] == starts[used - 1]) --used;
  heads_.resize(used);
  for (std::size_t list = 0; list < used; ++list) {
    const auto own = entries.subspan(starts[list], starts[list + 1] - starts[list]);
    if (own.empty()) continue;
    if (own.size() > small_limit_) {
      heads_[list] = {heavies_.make(own), 0, Head::kHeavy};
      continue;
    }
    heads_[list] = smalls_.make(static_cast<std::uint32_t>(own.size()));
    for (const Entry& entry : own) smalls_.push_back(heads_[list], entry);
  }
}

}  // namespace nearcast
