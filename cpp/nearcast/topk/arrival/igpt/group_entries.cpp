#include "nearcast/topk/arrival/igpt/group_entries.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast::igpt {
namespace {

std::size_t place_of(std::span<const Entry> all, const Entry& entry) {
  const auto found = std::lower_bound(
      all.begin(), all.end(), entry, [](const Entry& a, const Entry& b) { return a.is_before(b); });
  return static_cast<std::size_t>(found - all.begin());
}

}  // namespace

void GroupEntries::add(ListHandle& group, std::uint32_t term) {
  Entry entry = Entry::of(table_, term);
  arena_.push_back(group, entry);
  const std::span<Entry> all = arena_.view(group);
  const std::size_t place = place_of(all.first(all.size() - 1), entry);
  std::copy_backward(all.begin() + static_cast<std::ptrdiff_t>(place), all.end() - 1, all.end());
  if (place + 1 < all.size()) {
    entry.alpha = std::max(entry.alpha, all[place + 1].alpha);
    entry.weight = std::max(entry.weight, all[place + 1].weight);
  }
  all[place] = entry;
  repair(all, place);
}

void GroupEntries::remove(ListHandle& group, std::uint32_t term) {
  const std::span<Entry> all = arena_.view(group);
  const std::size_t place = place_of(all, Entry::of(table_, term));
  ensure(place < all.size() && all[place].term == term, "igpt: an entry is not where it should be");
  std::copy(all.begin() + static_cast<std::ptrdiff_t>(place) + 1, all.end(),
            all.begin() + static_cast<std::ptrdiff_t>(place));
  repair(all.first(all.size() - 1), place);
  if (--group.size == 0) arena_.release(group);
}

void GroupEntries::repair(std::span<Entry> all, std::size_t end) {
  for (std::size_t place = end; place-- > 0;) {
    Entry now = Entry::of(table_, all[place].term);
    if (place + 1 < all.size()) {
      now.alpha = std::max(now.alpha, all[place + 1].alpha);
      now.weight = std::max(now.weight, all[place + 1].weight);
    }
    if (now.alpha == all[place].alpha && now.weight == all[place].weight) return;  // so before it
    all[place] = now;
  }
}

void GroupEntries::check(const ListHandle& group) const {
  const std::span<const Entry> all = arena_.view(group);
  float alpha = 0, weight = 0;
  for (std::size_t i = all.size(); i-- > 0;) {
    const Entry own = Entry::of(table_, all[i].term);
    alpha = std::max(alpha, own.alpha);
    weight = std::max(weight, own.weight);
    ensure(i + 1 == all.size() || all[i].is_before(all[i + 1]), "igpt: a group is out of order");
    ensure(all[i].alpha == alpha && all[i].weight == weight, "igpt: an entry's bounds are wrong");
    ensure(all[i].score == own.score, "igpt: an entry has an old threshold");
  }
}

}  // namespace nearcast::igpt
