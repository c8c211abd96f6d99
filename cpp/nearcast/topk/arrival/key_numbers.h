/// Dense numbers for keys of 64 bits. The number of a key that is released is used again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcast/base/array.h"
#include "nearcast/base/hash.h"
#include "nearcast/base/slot_table.h"

namespace nearcast {

class KeyNumbers {
 public:
  static constexpr std::uint32_t kNone = TaggedTable::kNone;

  std::size_t slots() const { return keys_.size(); }  ///< numbers are below this

  std::uint64_t key(std::uint32_t number) const { return keys_[number]; }

  std::uint32_t find(std::uint64_t key) const {  ///< kNone: has no number
    return table_.find(hash_of(key), [&](std::uint32_t number) { return keys_[number] == key; });
  }
  void prefetch(std::uint64_t key) const { table_.prefetch(hash_of(key)); }

  /// Its number, a new one if it has none.
  std::uint32_t give(std::uint64_t key) {
    const std::uint32_t known = find(key);
    if (known != kNone) return known;
    auto number = static_cast<std::uint32_t>(keys_.size());
    if (free_.empty()) {
      keys_.push_back(key);
    } else {
      number = free_.back();
      free_.pop_back();
      keys_[number] = key;
    }
    table_.insert(hash_of(key), number, [&](std::uint32_t each) { return hash_of(keys_[each]); });
    return number;
  }
  void take_back(std::uint32_t number) {
    table_.erase(hash_of(keys_[number]), number,
                 [&](std::uint32_t each) { return hash_of(keys_[each]); });
    free_.push_back(number);
  }
  void clear() {
    keys_.clear();
    free_.clear();
    table_ = {};
  }

  std::size_t memory_bytes() const {
    return keys_.memory_bytes() + free_.memory_bytes() + table_.memory_bytes();
  }

 private:
  Array<std::uint64_t> keys_;
  Array<std::uint32_t> free_;
  TaggedTable table_;
};

}  // namespace nearcast
