/// What sized lists hold of a clause: a box in cells, one more condition, and the entry's number.
#pragma once

#include <cstdint>

#include "nearcast/base/ids.h"
#include "nearcast/index/ours/sized_lists/frame.h"

namespace nearcast::sized_lists {

/// The second-rarest keyword in 16 bits: a message without it cannot match.
using Signature = std::uint16_t;

constexpr Signature kProven = 0;  ///< list and box decide alone
constexpr Signature kAsk = 1;     ///< no second keyword, but the store must decide

inline Signature signature_of(Token token) {
  const auto hash = static_cast<Signature>((raw(token) * 0x9E3779B1u) >> 16);
  return hash < 2 ? static_cast<Signature>(hash + 2) : hash;
}

struct Entry {
  CellBox box;
  Signature signature;
  EntryId id;
};

inline std::uint32_t center_x(const CellBox& box) { return std::uint32_t{box.west} + box.east; }
inline std::uint32_t center_y(const CellBox& box) { return std::uint32_t{box.south} + box.north; }

}  // namespace nearcast::sized_lists
