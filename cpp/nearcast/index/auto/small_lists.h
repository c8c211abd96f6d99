/// Lists of up to 64 entries, each one record of columns in one array.
///
///   record of capacity c    west[c] east[c] south[c] north[c] signature[c] (16 bits), id[c] (32
///   bits)
///
/// 14 bytes an entry and nothing else. A scan may read past a column's end into the next, never
/// past the array: it ends with padding.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/index/auto/entry.h"
#include "nearcast/index/auto/kernels.h"

namespace nearcast::automatic {

constexpr std::uint32_t kSmallLimit = 64;

/// Where a token's entries are: 8 bytes per token.
struct Head {
  std::uint32_t place = 0;     ///< of a record, or number of a heavy list
  std::uint16_t size = 0;      ///< of a small list
  std::uint16_t capacity = 0;  ///< of its record; 0: empty list; kHeavy: see `place`

  static constexpr std::uint16_t kHeavy = 0xFFFF;
  bool is_empty() const { return capacity == 0; }
  bool is_heavy() const { return capacity == kHeavy; }
};

class SmallLists {
 public:
  Columns columns(const Head& head) const { return {cells_.data() + head.place, head.capacity}; }
  const Signature* signatures(const Head& head) const {
    return cells_.data() + head.place + 4 * head.capacity;
  }
  EntryId id(const Head& head, std::uint32_t i) const {
    EntryId id;
    std::memcpy(&id, ids(head) + 2 * i, sizeof(id));
    return id;
  }
  Entry entry(const Head& head, std::uint32_t i) const {
    const Cell* at = cells_.data() + head.place + i;
    const std::uint32_t c = head.capacity;
    return {{at[0], at[c], at[2 * c], at[3 * c]}, at[4 * c], id(head, i)};
  }
  std::uint32_t find(const Head& head,
                     EntryId wanted) const {  ///< position, or size if it is not there
    std::uint32_t i = 0;
    while (i < head.size && id(head, i) != wanted) ++i;
    return i;
  }
  void prefetch(const Head& head) const {
    const char* at = reinterpret_cast<const char*>(cells_.data() + head.place);
    for (std::uint32_t line = 0; line < 14u * head.capacity; line += 64)
      __builtin_prefetch(at + line);
  }

  /// An empty list with room for `capacity` entries.
  Head make(std::uint32_t capacity);
  void push_back(Head& head, const Entry& entry);  ///< size < kSmallLimit
  void erase(Head& head, std::uint32_t i);
  void free(Head& head);

  std::size_t memory_bytes() const { return cells_.memory_bytes(); }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  static constexpr std::uint32_t kUnits = 7;      ///< 16-bit units per entry
  static constexpr std::uint32_t kPadding = 128;  ///< units that a scan may read past the end

  Cell* ids(const Head& head) { return cells_.data() + head.place + 5 * head.capacity; }
  const Cell* ids(const Head& head) const { return cells_.data() + head.place + 5 * head.capacity; }
  void put(const Head& head, std::uint32_t i, const Entry& entry);
  void move_to(Head& head, std::uint32_t capacity);
  std::uint32_t take(std::uint32_t capacity);

  Array<Cell> cells_;
  std::array<std::uint32_t, kSmallLimit + 1>
      free_{};  ///< by capacity: 1 + a free place, which holds the next
  std::uint32_t used_ = 0;
};

}  // namespace nearcast::automatic
