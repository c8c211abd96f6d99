/// Which tokens may a message have? Short hashes of its first tokens, a few bytes per message, tell
/// without reading the message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "nearcast/base/array.h"
#include "nearcast/base/hash.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/model/message_store.h"

namespace nearcast {

class Fingerprints {
 public:
  using Print = std::uint16_t;
  static constexpr std::size_t kPrints = 16;

  static Print print_of(Token token) {
    return static_cast<Print>(hash_of(static_cast<std::uint64_t>(raw(token))) % kMany);
  }

  void set(MessageId id, TokenSpan tokens) {
    if (raw(id) >= rows_.size()) rows_.resize(raw(id) + 1);
    Row& row = rows_[raw(id)];
    row.fill(kNone);
    // A message with more tokens than there is room for may have any token.
    const bool has_room = tokens.size() <= kPrints;
    for (std::size_t i = 0; i < kPrints && i < tokens.size(); ++i) row[i] = print_of(tokens[i]);
    if (!has_room) row[0] = kMany;
  }
  void prefetch(MessageId id) const { prefetch_line(&rows_[raw(id)]); }

  /// False: the message certainly does not have it.
  bool may_have(MessageId id, Print print) const {
    const Row& row = rows_[raw(id)];
    bool found = row[0] == kMany;
    for (const Print each : row) found |= each == print;
    return found;
  }

  std::size_t memory_bytes() const { return rows_.memory_bytes(); }

 private:
  static constexpr Print kNone = 0xFFFF;
  static constexpr Print kMany = 0xFFFE;
  using Row = std::array<Print, kPrints>;

  Array<Row> rows_;  ///< by message
};

}  // namespace nearcast
