/// Lists of up to 64 entries, each one record (record.h) in one array.
///
/// A scan may read past a record's columns, never past the array: it ends with padding.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/change_steps.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/index/ours/sized_lists/record.h"

namespace nearcast::sized_lists {

constexpr std::uint32_t kSmallLimit = 64;

/// Where a token's entries are: 8 bytes per token.
struct Head {
  std::uint32_t place = 0;     ///< of a record, in units of two bytes, or number of a heavy list
  std::uint16_t size = 0;      ///< of a small list
  std::uint16_t capacity = 0;  ///< of its record; 0: empty list; kHeavy: see `place`

  static constexpr std::uint16_t kHeavy = 0xFFFF;
  bool is_empty() const { return capacity == 0; }
  bool is_heavy() const { return capacity == kHeavy; }
};

class SmallLists {
 public:
  Record record(const Head& head) const { return {start(head), head.capacity}; }
  Entry entry(const Head& head, std::uint32_t i) const { return record(head).entry(i); }
  std::uint32_t find(const Head& head,
                     EntryId wanted) const {  ///< position, or size if it is not there
    std::uint32_t i = 0;
    while (i < head.size && record(head).id(i) != wanted) ++i;
    count_change_steps(i + 1);
    return i;
  }
  /// Prefetch every cache line that a scan of the list reads; of tiny lists also the ids.
  void prefetch(const Head& head) const {
    const std::uint8_t* at = start(head);
    const std::uint32_t c = head.capacity;
    const std::uint32_t last = c <= 4    ? 8 * c + 11
                               : c <= 16 ? 3 * c + 15
                                         : 3 * c + (c + 31) / 32 * 32;
    for (std::uint32_t line = 0; line < last; line += 64) prefetch_line(at + line);
    prefetch_line(at + last);
  }

  /// Prefetch everything that belongs to the list.
  void prefetch_all(const Head& head) const {
    for (std::uint32_t at = 0; at < kEntryBytes * head.capacity; at += 64)
      prefetch_line(start(head) + at);
  }

  /// An empty list with room for `capacity` entries.
  Head make(std::uint32_t capacity);
  void push_back(Head& head, const Entry& entry);  ///< size < kSmallLimit
  void erase(Head& head, std::uint32_t i);
  void free(Head& head);

  std::size_t memory_bytes() const { return units_.memory_bytes(); }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Claims the free places of lists that were read. The places in use must be claimed too.
  Claims claim_free() const;
  void claim(Claims& claims, const Head& head) const;

 private:
  using Unit = std::uint16_t;
  static constexpr std::uint32_t kUnits = kEntryBytes / sizeof(Unit);  ///< per entry
  static constexpr std::uint32_t kPadding = 128;  ///< units that a scan may read past the end

  const std::uint8_t* start(const Head& head) const {
    return reinterpret_cast<const std::uint8_t*>(units_.data() + head.place);
  }
  void put(const Head& head, std::uint32_t i, const Entry& entry) {
    sized_lists::put(reinterpret_cast<std::uint8_t*>(units_.data() + head.place), head.capacity, i,
                     entry);
  }
  void move_to(Head& head, std::uint32_t capacity);
  std::uint32_t take(std::uint32_t capacity);

  Array<Unit> units_;
  std::array<std::uint32_t, kSmallLimit + 1>
      free_{};  ///< by capacity: 1 + a free place, which holds the next
  std::uint32_t used_ = 0;
};

}  // namespace nearcast::sized_lists
