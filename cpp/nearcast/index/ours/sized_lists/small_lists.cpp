#include "nearcast/index/ours/sized_lists/small_lists.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "nearcast/base/errors.h"
#include "nearcast/base/list_room.h"

namespace nearcast::sized_lists {
namespace {

/// Capacities of growing lists: 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64.
std::uint32_t roomy(std::uint32_t size) {
  std::uint32_t power = 1;
  while (power < size) power *= 2;
  return power >= 4 && size <= power / 4 * 3 ? power / 4 * 3 : power;
}

}  // namespace

std::uint32_t SmallLists::take(std::uint32_t capacity) {
  if (free_[capacity] != 0) {
    const std::uint32_t place = free_[capacity] - 1;
    std::memcpy(&free_[capacity], units_.data() + place, sizeof(std::uint32_t));
    return place;
  }
  const std::uint64_t end = std::uint64_t{used_} + kUnits * capacity + kPadding;
  if (end > list_limit)
    too_large("small lists of sized-lists", std::to_string(used_) + " units", "fewer than 2^32");
  note_list_growth(end, kUnits * kSmallLimit);
  const std::uint32_t place = used_;
  used_ += kUnits * capacity;
  units_.resize(used_ + kPadding);
  return place;
}

Head SmallLists::make(std::uint32_t capacity) {
  return {take(capacity), 0, static_cast<std::uint16_t>(capacity)};
}

void SmallLists::move_to(Head& head, std::uint32_t capacity) {
  Head moved = make(capacity);
  for (; moved.size < head.size; ++moved.size) put(moved, moved.size, entry(head, moved.size));
  free(head);
  head = moved;
}

void SmallLists::push_back(Head& head, const Entry& entry) {
  if (head.size == head.capacity) move_to(head, roomy(head.size + 1u));
  put(head, head.size, entry);
  ++head.size;
}

void SmallLists::erase(Head& head, std::uint32_t i) {
  --head.size;
  if (i != head.size) put(head, i, entry(head, head.size));
  if (head.size == 0) {
    free(head);
  } else if (head.capacity > 4 && head.size <= head.capacity / 2) {
    move_to(head, roomy(head.size));
  }
}

void SmallLists::free(Head& head) {
  if (head.capacity != 0) {
    std::memcpy(units_.data() + head.place, &free_[head.capacity], sizeof(std::uint32_t));
    free_[head.capacity] = head.place + 1;
  }
  head = {};
}

void SmallLists::save(ArchiveWriter& out) const {
  out.value(free_);
  out.value(used_);
  units_.save(out);
}

void SmallLists::load(ArchiveReader& in) {
  free_ = in.value<decltype(free_)>();
  used_ = in.value<std::uint32_t>();
  units_.load(in);
}

}  // namespace nearcast::sized_lists
