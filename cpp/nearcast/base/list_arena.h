/// Many growing lists of plain values in one array.
///
/// A list is a handle of 12 bytes; its elements lie side by side. Capacities come in size classes,
/// two per doubling (1, 2, 3, 4, 6, 8, 12, …), so a quarter at most is lost; a list that outgrows
/// its class moves and leaves its place to the next list of that class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/check_index.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/errors.h"
#include "nearcast/base/list_room.h"

namespace nearcast {

struct ListHandle {
  std::uint32_t start = 0;
  std::uint32_t size = 0;
  std::uint32_t size_class = 0;  ///< 0: nothing allocated
};

/// Capacity of size class c ≥ 1: 1, 2, …, 8, 12, 16, 24, 32, …
constexpr std::uint32_t capacity_of(std::uint32_t size_class) {
  if (size_class <= 8) return size_class;
  const std::uint32_t step = size_class - 9;
  const std::uint32_t power = std::uint32_t{8} << (step / 2);
  return step % 2 == 0 ? power + power / 2 : power * 2;
}

template <typename T>
class ListArena {
  static_assert(sizeof(T) >= sizeof(std::uint32_t), "a free place holds a link");

 public:
  /// Room for exactly `count` ≥ 1 elements that will never grow; free(start, count) gives it back.
  std::uint32_t allocate(std::uint32_t count) { return take(class_for(count)); }
  void free(std::uint32_t start, std::uint32_t count) { give_back(start, class_for(count)); }
  /// The elements from `start` on; an empty list may begin where the arena ends.
  T* at(std::uint32_t start) {
    check_end(start, items_.size());
    return items_.data() + start;
  }
  const T* at(std::uint32_t start) const {
    check_end(start, items_.size());
    return items_.data() + start;
  }

  std::span<const T> view(const ListHandle& list) const {
    check_end(list.start + std::size_t{list.size}, items_.size());
    return {items_.data() + list.start, list.size};
  }
  std::span<T> view(const ListHandle& list) {
    check_end(list.start + std::size_t{list.size}, items_.size());
    return {items_.data() + list.start, list.size};
  }

  void push_back(ListHandle& list, const T& item) {
    if (list.size_class == 0 || list.size == capacity_of(list.size_class))
      move_to(list, list.size + 1);
    items_[list.start + list.size++] = item;
  }

  /// Room for `count` elements in all, so that the next ones need not move the list.
  void reserve(ListHandle& list, std::uint32_t count) {
    if (list.size_class == 0 || count > capacity_of(list.size_class)) move_to(list, count);
  }

  /// Remove element `position` by putting the last one in its place.
  void swap_remove(ListHandle& list, std::uint32_t position) {
    check_index(position, list.size);
    items_[list.start + position] = items_[list.start + list.size - 1];
    if (--list.size == 0) release(list);
  }

  /// Room for `count` elements, all zero or as they were.
  void resize(ListHandle& list, std::uint32_t count) {
    if (list.size_class == 0 ? count > 0 : count > capacity_of(list.size_class))
      move_to(list, count);
    for (std::uint32_t i = list.size; i < count; ++i) items_[list.start + i] = T{};
    list.size = count;
    if (count == 0) release(list);
  }

  void release(ListHandle& list) {
    if (list.size_class != 0) give_back(list.start, list.size_class);
    list = ListHandle{};
  }

  /// How many more elements can be addressed, at least. Capacities are rounded up: a list of n may
  /// take 2 n of them.
  std::size_t room() const { return list_limit - std::min(list_limit, items_.size()); }

  std::size_t memory_bytes() const { return items_.memory_bytes() + free_.memory_bytes(); }

  void save(ArchiveWriter& out) const {
    items_.save(out);
    free_.save(out);
  }
  void load(ArchiveReader& in) {
    items_.load(in);
    free_.load(in);
    // As if half of it were one list.
    const std::size_t half = std::clamp<std::size_t>(items_.size() / 2, 1, kLargest);
    longest_ = class_for(static_cast<std::uint32_t>(half));
  }

  // ---- checks of an arena that was read: does every place have one owner? ----------------------

  std::size_t places() const { return items_.size(); }
  /// The places that are free. What is in use must claim the others.
  Claims claim_free() const {
    constexpr const char* kWhat = "a free place of a list arena";
    Claims claims(items_.size());
    expect(free_.size() <= kMaxClasses && (free_.empty() || free_[0] == 0), kWhat);
    for (std::uint32_t size_class = 1; size_class < free_.size(); ++size_class) {
      for (std::uint32_t next = free_[size_class]; next != 0;) {
        claims.claim(next - 1, capacity_of(size_class), kWhat);
        std::memcpy(&next, at(next - 1), sizeof(next));
      }
    }
    return claims;
  }
  /// What allocate(count) gave.
  static void claim(Claims& claims, std::uint32_t start, std::uint64_t count, const char* what) {
    expect(count >= 1 && count <= kLargest, what);
    claims.claim(start, capacity_of(class_for(static_cast<std::uint32_t>(count))), what);
  }

 private:
  static constexpr std::uint32_t kLargest = 0xC0000000u;  ///< the last capacity of 32 bits
  static constexpr std::uint32_t kMaxClasses = 66;        ///< kLargest is of the last one

  static std::uint32_t class_for(std::uint32_t count) {
    if (count > kLargest)
      too_large("a list", std::to_string(count) + " elements", "at most 3 * 2^30");
    std::uint32_t size_class = 1;
    while (capacity_of(size_class) < count) ++size_class;
    return size_class;
  }

  void move_to(ListHandle& list, std::uint32_t count) {
    ListHandle larger{0, list.size, class_for(count)};
    larger.start = take(larger.size_class);
    if (list.size != 0) {
      std::memcpy(static_cast<void*>(at(larger.start)), at(list.start), list.size * sizeof(T));
    }
    release(list);
    list = larger;
  }

  void give_back(std::uint32_t start, std::uint32_t size_class) {
    if (free_.size() <= size_class) free_.resize(size_class + 1);
    std::memcpy(static_cast<void*>(at(start)), &free_[size_class], sizeof(std::uint32_t));
    free_[size_class] = start + 1;
  }

  std::uint32_t take(std::uint32_t size_class) {
    if (size_class < free_.size() && free_[size_class] != 0) {
      const std::uint32_t start = free_[size_class] - 1;
      std::memcpy(&free_[size_class], at(start), sizeof(std::uint32_t));
      return start;
    }
    const std::size_t start = items_.size();
    if (start + capacity_of(size_class) > list_limit)
      too_large("lists of one structure", std::to_string(start) + " elements", "fewer than 2^32");
    items_.resize(start + capacity_of(size_class));
    longest_ = std::max(longest_, std::min(size_class + 1, kMaxClasses - 1));
    note_list_growth(items_.size(), capacity_of(longest_));
    return static_cast<std::uint32_t>(start);
  }

  Array<T> items_;
  Array<std::uint32_t> free_;  ///< per size class: 1 + start of a free place, which holds the next
  std::uint32_t longest_ = 1;  ///< size class that the longest list may need next
};

}  // namespace nearcast
