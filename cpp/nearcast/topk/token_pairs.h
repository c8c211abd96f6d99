/// Numbers for pairs of tokens. The number of a forgotten pair is used again, so that arrays by
/// number are as large as the number of pairs in use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcast/base/array.h"
#include "nearcast/base/hash.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/slot_table.h"

namespace nearcast {

class TokenPairs {
 public:
  static constexpr std::uint32_t kNone = TaggedTable::kNone;

  std::uint32_t find(Token a, Token b) const {  ///< kNone: has no number
    const std::uint64_t key = key_of(a, b);
    return table_.find(hash_of(key), [&](std::uint32_t number) { return keys_[number] == key; });
  }
  std::uint32_t number(Token a, Token b) {
    const std::uint32_t known = find(a, b);
    if (known != kNone) return known;
    const std::uint64_t key = key_of(a, b);
    const std::uint32_t added = take_number();
    keys_[added] = key;
    table_.insert(hash_of(key), added, [&](std::uint32_t each) { return hash_of(keys_[each]); });
    return added;
  }
  void forget(std::uint32_t number) {  ///< is in use
    table_.erase(hash_of(keys_[number]), number,
                 [&](std::uint32_t each) { return hash_of(keys_[each]); });
    free_.push_back(number);
  }
  void prefetch(Token a, Token b) const { table_.prefetch(hash_of(key_of(a, b))); }

  std::size_t memory_bytes() const {
    return keys_.memory_bytes() + free_.memory_bytes() + table_.memory_bytes();
  }

 private:
  /// `a` is the smaller token.
  static std::uint64_t key_of(Token a, Token b) {
    return static_cast<std::uint64_t>(raw(a)) << 32 | raw(b);
  }

  std::uint32_t take_number() {
    if (free_.empty()) {
      keys_.push_back(0);
      return static_cast<std::uint32_t>(keys_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }

  Array<std::uint64_t> keys_;
  Array<std::uint32_t> free_;
  TaggedTable table_;
};

}  // namespace nearcast
