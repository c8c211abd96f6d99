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
  if (place + 1 < all.size()) entry.take_in(all[place + 1]);
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
    if (place + 1 < all.size()) now.take_in(all[place + 1]);
    if (now.has_bounds_of(all[place])) return;  // so have those before
    all[place] = now;
  }
}

void GroupEntries::check(const ListHandle& group) const {
  const std::span<const Entry> all = arena_.view(group);
  for (std::size_t i = all.size(); i-- > 0;) {
    Entry now = Entry::of(table_, all[i].term);
    if (i + 1 < all.size()) now.take_in(all[i + 1]);
    ensure(i + 1 == all.size() || all[i].is_before(all[i + 1]), "igpt: a group is out of order");
    ensure(all[i].has_bounds_of(now), "igpt: an entry's bounds are wrong");
    ensure(all[i].score == now.score, "igpt: an entry has an old threshold");
  }
}

}  // namespace nearcast::igpt
