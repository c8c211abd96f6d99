/// A heap of slots by (key, number) that knows each slot's position, so that any can be erased.
///
/// Four children per node: half the levels of a binary heap, and siblings share a cache line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nearcast/base/array.h"

namespace nearcast {

class SlotHeap {
 public:
  struct Item {
    double key;
    std::uint64_t number;  ///< of equal keys the lowest goes first
    std::uint32_t slot;
  };

  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  const Item& first() const { return items_[0]; }
  bool has(std::uint32_t slot) const { return slot < places_.size() && places_[slot] != 0; }
  double key(std::uint32_t slot) const { return items_[places_[slot] - 1].key; }  ///< it is here
  std::span<const Item> items() const { return items_.view(); }                   ///< in no order

  void push(const Item& item) {
    if (item.slot >= places_.size()) places_.resize(item.slot + 1);
    items_.push_back(item);
    rise(items_.size() - 1, item);
  }

  void erase(std::uint32_t slot) {
    const std::size_t hole = places_[slot] - 1;
    places_[slot] = 0;
    const Item last = items_.back();
    items_.pop_back();
    if (hole == items_.size()) return;
    if (hole > 0 && is_before(last, items_[(hole - 1) / 4])) {
      rise(hole, last);
    } else {
      sink(hole, last);
    }
  }

  std::size_t memory_bytes() const { return items_.memory_bytes() + places_.memory_bytes(); }

 private:
  static bool is_before(const Item& a, const Item& b) {
    return a.key != b.key ? a.key < b.key : a.number < b.number;
  }
  void put(std::size_t at, const Item& item) {
    items_[at] = item;
    places_[item.slot] = static_cast<std::uint32_t>(at) + 1;
  }
  void rise(std::size_t at, const Item& item) {
    for (; at > 0 && is_before(item, items_[(at - 1) / 4]); at = (at - 1) / 4) {
      put(at, items_[(at - 1) / 4]);
    }
    put(at, item);
  }
  void sink(std::size_t at, const Item& item) {
    for (std::size_t child = 4 * at + 1; child < items_.size(); child = 4 * at + 1) {
      std::size_t least = child;
      for (std::size_t i = child + 1; i < child + 4 && i < items_.size(); ++i) {
        if (is_before(items_[i], items_[least])) least = i;
      }
      if (!is_before(items_[least], item)) break;
      put(at, items_[least]);
      at = least;
    }
    put(at, item);
  }

  Array<Item> items_;
  Array<std::uint32_t> places_;  ///< by slot: position + 1 in items_; 0: not here
};

}  // namespace nearcast
