#include "nearcast/topk/arrival/bounded_lists/short_list.h"

#include <algorithm>
#include <cstring>

namespace nearcast::bounded_lists {
namespace {

/// The most that six columns of a size class of the arena hold: 1, 2, 4, 5, 8, 10, 16, …
std::uint32_t capacity_for(std::uint32_t size) {
  if (size <= 1) return 1;
  std::uint32_t words = 12;
  while (words / 6 < size) words = (words & (words - 1)) == 0 ? words / 2 * 3 : words / 3 * 4;
  return words / 6;
}

}  // namespace

void ShortLists::add(List& list, const Entry& entry) {
  if (list.size == list.capacity) {
    List larger{0, list.size, capacity_for(list.size + 1)};
    larger.start = block_.allocate(larger.capacity * kColumns);
    for (std::uint32_t column = 0; list.size != 0 && column < kColumns; ++column) {
      std::memcpy(block_.at(larger.start) + column * larger.capacity,
                  block_.at(list.start) + column * list.capacity,
                  list.size * sizeof(std::uint32_t));
    }
    release(list);
    list = larger;
  }
  std::uint32_t* block = block_.at(list.start);
  block[list.size] = entry.cell;
  block[list.capacity + list.size] = entry.shape;
  std::memcpy(&block[2 * list.capacity + list.size], &entry.slack, sizeof(entry.slack));
  block[3 * list.capacity + list.size] = entry.prints;
  std::memcpy(&block[4 * list.capacity + list.size], &entry.other_text, sizeof(entry.other_text));
  block[5 * list.capacity + list.size] = raw(entry.id);
  ++list.size;
}

void ShortLists::remove(List& list, std::uint32_t place) {
  std::uint32_t* block = block_.at(list.start);
  --list.size;
  for (std::uint32_t column = 0; column < kColumns; ++column) {
    block[column * list.capacity + place] = block[column * list.capacity + list.size];
  }
  if (list.size == 0) release(list);
}

void ShortLists::release(List& list) {
  if (list.capacity != 0) block_.free(list.start, list.capacity * kColumns);
  list = List{};
}

std::uint32_t ShortLists::find(const List& list, SubscriptionId id) const {
  const std::uint32_t* all = ids(list);
  const std::uint32_t* found = std::find(all, all + list.size, raw(id));
  return found == all + list.size ? kNowhere : static_cast<std::uint32_t>(found - all);
}

Entry ShortLists::entry(const List& list, std::uint32_t place) const {
  const std::uint32_t* block = block_.at(list.start);
  Entry entry{block[place],
              block[list.capacity + place],
              0,
              block[3 * list.capacity + place],
              0,
              SubscriptionId{block[5 * list.capacity + place]}};
  std::memcpy(&entry.slack, &block[2 * list.capacity + place], sizeof(entry.slack));
  std::memcpy(&entry.other_text, &block[4 * list.capacity + place], sizeof(entry.other_text));
  return entry;
}

}  // namespace nearcast::bounded_lists
