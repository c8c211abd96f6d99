#include "nearcast/index/ours/sized_lists/numbered_lists.h"

#include <algorithm>
#include <vector>

namespace nearcast::sized_lists {
namespace {

constexpr std::size_t kFrameSample = 50'000;

}  // namespace

void NumberedLists::add(Head& head, const Entry& entry) {
  if (head.is_heavy()) {
    heavies_.insert(head.place, entry);
  } else if (head.size < small_limit_) {
    smalls_.push_back(head, entry);
  } else {
    std::vector<Entry> entries;
    for (std::uint32_t i = 0; i < head.size; ++i) entries.push_back(smalls_.entry(head, i));
    entries.push_back(entry);
    smalls_.free(head);
    head = {heavies_.make(entries), 0, Head::kHeavy};
  }
}

bool NumberedLists::remove(Head& head, const Entry& entry) {
  if (!head.is_heavy()) {
    const std::uint32_t position = smalls_.find(head, entry.id);
    if (position == head.size) return false;
    smalls_.erase(head, position);
    return true;
  }
  if (!heavies_.erase(head.place, entry)) return false;
  if (heavies_.list(head.place).size <= small_limit_ / 2) {
    std::vector<Entry> entries;
    heavies_.collect(head.place, entries);
    heavies_.free(head.place);
    head = smalls_.make(static_cast<std::uint32_t>(entries.size()));
    for (const Entry& left : entries) smalls_.push_back(head, left);
  }
  return true;
}

bool NumberedLists::has(const Head& head, const Entry& entry) const {
  if (head.is_empty()) return false;
  return head.is_heavy() ? heavies_.has(head.place, entry)
                         : smalls_.find(head, entry.id) < head.size;
}

void NumberedLists::clear() {
  heads_ = {};
  smalls_ = {};
  heavies_ = {};
}

void NumberedLists::fill(std::span<const std::uint32_t> starts, std::span<Entry> entries) {
  std::size_t used = starts.size() - 1;
  while (used > 0 && starts[used] == starts[used - 1]) --used;
  heads_.resize(used);
  for (std::size_t list = 0; list < used; ++list) {
    const auto own = entries.subspan(starts[list], starts[list + 1] - starts[list]);
    if (!own.empty()) heads_[list] = make(own);
  }
}

Head NumberedLists::make(std::span<Entry> entries) {
  if (entries.size() > small_limit_) return {heavies_.make(entries), 0, Head::kHeavy};
  Head head = smalls_.make(static_cast<std::uint32_t>(entries.size()));
  for (const Entry& entry : entries) smalls_.push_back(head, entry);
  return head;
}

void NumberedLists::collect(const Head& head, std::vector<Entry>& out) const {
  if (head.is_heavy()) return heavies_.collect(head.place, out);
  for (std::uint32_t i = 0; i < head.size; ++i) out.push_back(smalls_.entry(head, i));
}

void NumberedLists::free(Head& head) {
  if (!head.is_heavy()) return smalls_.free(head);
  heavies_.free(head.place);
  head = {};
}

std::size_t NumberedLists::memory_bytes() const {
  return heads_.memory_bytes() + smalls_.memory_bytes() + heavies_.memory_bytes();
}

std::uint64_t NumberedLists::check_invariants() const {
  std::uint64_t listed = 0;
  for (const Head& head : heads_) listed += check_invariants(head);
  return listed;
}

std::uint64_t NumberedLists::check_invariants(const Head& head) const {
  if (!head.is_heavy()) return head.size;
  heavies_.check(head.place);
  return heavies_.list(head.place).size;
}

void NumberedLists::save(ArchiveWriter& out) const {
  heads_.save(out);
  smalls_.save(out);
  heavies_.save(out);
}

void NumberedLists::load(ArchiveReader& in) {
  heads_.load(in);
  smalls_.load(in);
  heavies_.load(in);
}

void fit_frame(Frame& frame, const SubscriptionStore& store) {
  const std::size_t step = std::max<std::size_t>(1, store.slots() / kFrameSample);
  std::vector<double> lons, lats;
  for (std::size_t slot = 0; slot < store.slots(); slot += step) {
    const SubscriptionId id{static_cast<std::uint32_t>(slot)};
    if (!store.is_live(id)) continue;
    const Rect& box = store.bounds(id);
    if (box == kWorld) continue;
    lons.insert(lons.end(), {box.west, box.east});
    lats.insert(lats.end(), {box.south, box.north});
  }
  frame.fit(lons, lats);
}

}  // namespace nearcast::sized_lists
