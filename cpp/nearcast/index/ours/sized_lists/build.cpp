/// Builds sized lists from all subscriptions at once: count tokens, choose each entry's list, group
/// entries by list, write each list. Those that are filed by ranges come last.
#include <algorithm>
#include <map>

#include "nearcast/index/ours/sized_lists/sized_lists.h"

namespace nearcast {

using sized_lists::Entry;

namespace {

constexpr std::size_t kSampledConditions = 50'000;
constexpr std::uint32_t kElsewhere = 0xFFFFFFFFu;  ///< instead of a list: it is filed by a range

}  // namespace

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

  ranges_.clear();
  fit_axes();

  std::vector<std::uint32_t> starts(frequencies_.size() + 2);
  std::vector<sized_lists::RangeLists::Filed> ranged;
  std::vector<Choice> choices;  // of those that are filed by area
  choices.reserve(entries);
  store_.for_each([&](SubscriptionId id) {
    const bool may_be_ranged = conditions_ != nullptr && conditions_->has(id);
    const Plane plane = may_be_ranged ? plane_of(id) : Plane{kUnknownToken, {}};
    store_.for_each_entry(id, [&](EntryId entry) {
      const Choice choice = choose(store_.clause(entry));
      if (plane.is_ranged()) {
        ranged.push_back({choice.list, plane.name, entry_for(entry, choice.second, plane)});
        choices.push_back({kElsewhere, kUnknownToken});
      } else {
        choices.push_back(choice);
        ++starts[choice.list + 1];
      }
    });
  });
  for (std::size_t list = 1; list < starts.size(); ++list) starts[list] += starts[list - 1];

  std::vector<Entry> grouped(entries - ranged.size());
  std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
  auto choice = choices.cbegin();
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      if (choice->list != kElsewhere)
        grouped[next[choice->list]++] = entry_for(entry, choice->second, area_plane(id));
      ++choice;
    });
  });
  lists_.fill(starts, grouped);
  ranges_.fill(ranged, lists_);
}

/// To a sample of all ranges.
void SizedLists::fit_axes() {
  if (conditions_ == nullptr || conditions_->empty()) return;
  const std::size_t step = std::max<std::size_t>(1, conditions_->size() / kSampledConditions);
  std::map<std::uint32_t, std::vector<double>> ends;
  std::vector<NumberRange> ranges;
  std::size_t number = 0;
  conditions_->for_each([&](SubscriptionId id) {
    if (number++ % step != 0) return;
    ranges.clear();
    conditions_->ranges(id, ranges);
    for (const NumberRange& range : ranges) sized_lists::append_ends(range, ends[raw(range.name)]);
  });
  for (auto& [name, all] : ends) ranges_.fit(Token{name}, all);
}

}  // namespace nearcast
