/// Numbers for pairs of tokens, given once and never taken back.
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

  std::size_t size() const { return keys_.size(); }

  std::uint32_t find(Token a, Token b) const {  ///< kNone: never numbered
    const std::uint64_t key = key_of(a, b);
    return table_.find(hash_of(key), [&](std::uint32_t number) { return keys_[number] == key; });
  }
  std::uint32_t number(Token a, Token b) {
    const std::uint32_t known = find(a, b);
    if (known != kNone) return known;
    const std::uint64_t key = key_of(a, b);
    keys_.push_back(key);
    const auto added = static_cast<std::uint32_t>(keys_.size() - 1);
    table_.insert(hash_of(key), added, [&](std::uint32_t each) { return hash_of(keys_[each]); });
    return added;
  }
  void prefetch(Token a, Token b) const { table_.prefetch(hash_of(key_of(a, b))); }

  std::size_t memory_bytes() const { return keys_.memory_bytes() + table_.memory_bytes(); }

 private:
  /// `a` is the smaller token.
  static std::uint64_t key_of(Token a, Token b) {
    return static_cast<std::uint64_t>(raw(a)) << 32 | raw(b);
  }

  Array<std::uint64_t> keys_;
  TaggedTable table_;
};

}  // namespace nearcast
