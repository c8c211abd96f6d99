/// Entries side by side, as short lists and blocks hold them: 14 bytes each, and nothing else.
///
///   of capacity c    west[c] east[c] south[c] north[c]    upper halves of the cells, 8 bits
///                    id[c]                                32 bits, one of which says kProven
///                    rest[c]                              lower halves and signature, 6 bytes
///
/// A scan reads the upper halves, 32 entries per step. They rule most entries out, and nothing else
/// of those enters the cache. The id is read of the others, and the rest only of entries that the
/// upper halves leave undecided.
#pragma once

#include <cstdint>
#include <cstring>

#include "nearcast/index/ours/sized_lists/entry.h"

namespace nearcast::sized_lists {

constexpr std::uint32_t kEntryBytes = 14;
constexpr std::uint32_t kProvenBit = 0x40000000u;  ///< of an id in a record

struct Rest {
  std::uint8_t west, east, south, north;
  Signature signature;
};
static_assert(sizeof(Rest) == 6);

struct Record {
  const std::uint8_t* start;
  std::uint32_t capacity;

  const std::uint8_t* ids() const { return start + 4 * capacity; }
  std::uint32_t marked_id(std::uint32_t i) const {  ///< with kProvenBit
    std::uint32_t id;
    std::memcpy(&id, ids() + 4 * i, sizeof(id));
    return id;
  }
  EntryId id(std::uint32_t i) const { return EntryId{marked_id(i) & ~kProvenBit}; }
  const Rest& rest(std::uint32_t i) const {
    return reinterpret_cast<const Rest*>(start + 8 * capacity)[i];
  }
  CellBox box(std::uint32_t i) const {
    const Rest& low = rest(i);
    const auto cell = [&](std::uint32_t column, std::uint8_t half) {
      return static_cast<Cell>(start[column * capacity + i] << 8 | half);
    };
    return {cell(0, low.west), cell(1, low.east), cell(2, low.south), cell(3, low.north)};
  }
  Entry entry(std::uint32_t i) const { return {box(i), rest(i).signature, id(i)}; }
};

/// Write entry i of the record of capacity c that starts here.
inline void put(std::uint8_t* start, std::uint32_t c, std::uint32_t i, const Entry& entry) {
  const Cell cells[] = {entry.box.west, entry.box.east, entry.box.south, entry.box.north};
  Rest rest{};
  std::uint8_t* halves[] = {&rest.west, &rest.east, &rest.south, &rest.north};
  for (std::uint32_t column = 0; column < 4; ++column) {
    start[column * c + i] = static_cast<std::uint8_t>(cells[column] >> 8);
    *halves[column] = static_cast<std::uint8_t>(cells[column]);
  }
  rest.signature = entry.signature;
  const std::uint32_t id = raw(entry.id) | (entry.signature == kProven ? kProvenBit : 0);
  std::memcpy(start + 4 * c + 4 * i, &id, sizeof(id));
  std::memcpy(start + 8 * c + sizeof(Rest) * i, &rest, sizeof(rest));
}

}  // namespace nearcast::sized_lists
