#include "nearcast/topk/arrival/igpt/grouped_list.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast::igpt {
namespace {

/// Where the group begins, or would.
std::size_t group_start(std::span<const Entry> all, std::uint32_t group) {
  std::size_t place = 0;
  while (place < all.size() && all[place].group < group) place += all[place].left;
  return place;
}

std::size_t group_end(std::span<const Entry> all, std::size_t start, std::uint32_t group) {
  return start < all.size() && all[start].group == group ? start + all[start].left : start;
}

std::size_t place_in(std::span<const Entry> all, std::size_t start, std::size_t end,
                     const Entry& entry) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(start);
  const auto last = all.begin() + static_cast<std::ptrdiff_t>(end);
  const auto found = std::lower_bound(
      first, last, entry, [](const Entry& a, const Entry& b) { return a.is_before(b); });
  return static_cast<std::size_t>(found - all.begin());
}

}  // namespace

void GroupedLists::add(ListHandle& list, Entry entry) {
  arena_.push_back(list, entry);
  const std::span<Entry> all = arena_.view(list);
  const std::span<const Entry> old = all.first(all.size() - 1);
  const std::size_t start = group_start(old, entry.group);
  const std::size_t end = group_end(old, start, entry.group);
  const std::size_t place = place_in(old, start, end, entry);
  std::copy_backward(all.begin() + static_cast<std::ptrdiff_t>(place), all.end() - 1, all.end());
  entry.alpha = own_alpha(entry);
  entry.weight = own_weight(entry);
  entry.left = static_cast<std::uint32_t>(end - place + 1);
  for (std::size_t before = start; before < place; ++before) {
    all[before].alpha = std::max(all[before].alpha, entry.alpha);
    all[before].weight = std::max(all[before].weight, entry.weight);
    ++all[before].left;
  }
  if (place < end) {
    entry.alpha = std::max(entry.alpha, all[place + 1].alpha);
    entry.weight = std::max(entry.weight, all[place + 1].weight);
  }
  all[place] = entry;
}

void GroupedLists::remove(ListHandle& list, const Entry& entry) {
  const std::span<Entry> all = arena_.view(list);
  const std::size_t start = group_start(all, entry.group);
  const std::size_t end = group_end(all, start, entry.group);
  const std::size_t place = place_in(all, start, end, entry);
  ensure(place < end && all[place].id == entry.id, "igpt: an entry is not where it should be");
  std::copy(all.begin() + static_cast<std::ptrdiff_t>(place) + 1, all.end(),
            all.begin() + static_cast<std::ptrdiff_t>(place));
  for (std::size_t before = start; before < place; ++before) --all[before].left;
  repair(all, start, place);
  if (--list.size == 0) arena_.release(list);
}

/// The largest from [start, end) on, when what was at `end` has gone.
void GroupedLists::repair(std::span<Entry> all, std::size_t start, std::size_t end) {
  for (std::size_t place = end; place-- > start;) {
    float alpha = own_alpha(all[place]), weight = own_weight(all[place]);
    if (all[place].left > 1) {
      alpha = std::max(alpha, all[place + 1].alpha);
      weight = std::max(weight, all[place + 1].weight);
    }
    if (alpha == all[place].alpha && weight == all[place].weight) return;  // so are those before
    all[place].alpha = alpha;
    all[place].weight = weight;
  }
}

void GroupedLists::check(const ListHandle& list) const {
  const std::span<const Entry> all = arena_.view(list);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_last = i + 1 == all.size() || all[i + 1].group != all[i].group;
    ensure(all[i].left == (is_last ? 1 : all[i + 1].left + 1), "igpt: a group is miscounted");
    ensure(is_last || all[i].is_before(all[i + 1]), "igpt: a group is out of order");
    ensure(i == 0 || all[i - 1].group <= all[i].group, "igpt: groups are out of order");
    const float alpha = is_last ? 0 : all[i + 1].alpha, weight = is_last ? 0 : all[i + 1].weight;
    ensure(all[i].alpha == std::max(alpha, own_alpha(all[i])) &&
               all[i].weight == std::max(weight, own_weight(all[i])),
           "igpt: an entry's bounds are wrong");
    ensure(all[i].score == table_[all[i].id].score, "igpt: an entry has an old threshold");
  }
}

}  // namespace nearcast::igpt
