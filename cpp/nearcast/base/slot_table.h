/// A hash table from keys that lie elsewhere to dense numbers.
///
/// Holds only the numbers (4 bytes each, at most 80 % full); the owner compares keys and knows
/// hashes. Growth is spread over the inserts that follow it: no insert pays for the whole table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"

namespace nearcast {

template <typename Cell>
class NumberTable {
  static_assert(sizeof(Cell) == 4 || sizeof(Cell) == 8);

 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  std::size_t size() const { return count_; }

  /// The number whose key `is_key(number)` accepts, or kNone.
  template <typename IsKey>
  std::uint32_t find(std::uint32_t hash, IsKey&& is_key) const {
    const std::uint32_t found = find_in(cells_, hash, is_key);
    return found != kNone || old_cells_.empty() ? found : find_in(old_cells_, hash, is_key);
  }

  /// The number in the first cell that may hold this hash, or kNone: what to ask for in advance.
  std::uint32_t guess(std::uint32_t hash) const {
    if (cells_.empty()) return kNone;
    const Cell cell = cells_[home(cells_, hash)];
    return cell != 0 && may_have(cell, hash) ? number_in(cell) : kNone;
  }
  /// Pull the cell where `hash` would be into the cache.
  void prefetch(std::uint32_t hash) const {
    if (!cells_.empty()) __builtin_prefetch(&cells_[home(cells_, hash)]);
  }

  /// Insert a number whose key is not there. `hash_of_number` tells the hash of any number present.
  template <typename HashOf>
  void insert(std::uint32_t hash, std::uint32_t number, HashOf&& hash_of_number) {
    if ((count_ + 1) * 5 > cells_.size() * 4) start_growth(hash_of_number);
    put(hash, number);
    ++count_;
    migrate(16, hash_of_number);
  }

  template <typename HashOf>
  bool erase(std::uint32_t hash, std::uint32_t number, HashOf&& hash_of_number) {
    migrate(16, hash_of_number);
    if (!erase_in(cells_, hash, number, hash_of_number) &&
        !erase_in(old_cells_, hash, number, hash_of_number)) {
      return false;
    }
    --count_;
    return true;
  }

  /// Room for `count` numbers at once, so that a bulk load does not grow step by step.
  template <typename HashOf>
  void reserve(std::size_t count, HashOf&& hash_of_number) {
    if (count * 5 <= cells_.size() * 4) return;
    migrate(~std::size_t{0}, hash_of_number);
    // At least half as much again: a series of small batches must not rehash for each.
    swap_in(std::max(count * 5 / 4 + 16, count_ == 0 ? 0 : cells_.size() * 3 / 2));
    migrate(~std::size_t{0}, hash_of_number);
  }

  std::size_t memory_bytes() const { return cells_.memory_bytes() + old_cells_.memory_bytes(); }

  void save(ArchiveWriter& out) const {
    out.value(Header{count_, migrated_});
    cells_.save(out);
    old_cells_.save(out);
  }
  void load(ArchiveReader& in) {
    const auto header = in.value<Header>();
    count_ = header.count;
    migrated_ = header.migrated;
    cells_.load(in);
    old_cells_.load(in);
  }

 private:
  struct Header {
    std::uint64_t count, migrated;
  };
  using Cells = Array<Cell>;  ///< number + 1, above it the hash if there is room; 0: empty
  static constexpr bool kHasHash = sizeof(Cell) == 8;

  static Cell make(std::uint32_t hash, std::uint32_t number) {
    if constexpr (kHasHash) return static_cast<Cell>(hash) << 32 | (number + 1);
    return number + 1;
  }
  static std::uint32_t number_in(Cell cell) { return static_cast<std::uint32_t>(cell) - 1; }
  static bool may_have(Cell cell, std::uint32_t hash) {
    if constexpr (kHasHash) return cell >> 32 == hash;
    return true;
  }
  template <typename HashOf>
  static std::uint32_t hash_in(Cell cell, HashOf& hash_of_number) {
    if constexpr (kHasHash) return static_cast<std::uint32_t>(cell >> 32);
    return hash_of_number(number_in(cell));
  }

  static std::size_t home(const Cells& cells, std::uint32_t hash) {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(hash) * cells.size()) >> 32);
  }
  static std::size_t next(const Cells& cells, std::size_t cell) {
    return cell + 1 == cells.size() ? 0 : cell + 1;
  }

  template <typename IsKey>
  static std::uint32_t find_in(const Cells& cells, std::uint32_t hash, IsKey&& is_key) {
    if (cells.empty()) return kNone;
    for (std::size_t cell = home(cells, hash); cells[cell] != 0; cell = next(cells, cell)) {
      if (may_have(cells[cell], hash) && is_key(number_in(cells[cell])))
        return number_in(cells[cell]);
    }
    return kNone;
  }

  void put(std::uint32_t hash, std::uint32_t number) {
    std::size_t cell = home(cells_, hash);
    while (cells_[cell] != 0) cell = next(cells_, cell);
    cells_[cell] = make(hash, number);
  }

  /// Backward-shift deletion: no tombstones, so probes stay short under churn.
  template <typename HashOf>
  static bool erase_in(Cells& cells, std::uint32_t hash, std::uint32_t number,
                       HashOf& hash_of_number) {
    if (cells.empty()) return false;
    std::size_t hole = home(cells, hash);
    while (cells[hole] != make(hash, number)) {
      if (cells[hole] == 0) return false;
      hole = next(cells, hole);
    }
    for (std::size_t cell = next(cells, hole); cells[cell] != 0; cell = next(cells, cell)) {
      const std::size_t wanted = home(cells, hash_in(cells[cell], hash_of_number));
      const bool stays =
          hole < cell ? (wanted > hole && wanted <= cell) : (wanted > hole || wanted <= cell);
      if (stays) continue;
      cells[hole] = cells[cell];
      hole = cell;
    }
    cells[hole] = 0;
    return true;
  }

  template <typename HashOf>
  void start_growth(HashOf& hash_of_number) {
    migrate(~std::size_t{0}, hash_of_number);
    swap_in(cells_.size() * 2 + 16);
  }

  void swap_in(std::size_t size) {
    old_cells_ = std::move(cells_);
    cells_ = Cells{};
    cells_.resize(size);
    migrated_ = 0;
  }

  /// Move the contents of up to `steps` old cells. An old cell is emptied by erase_in, so that
  /// probe chains of what is still there stay whole.
  template <typename HashOf>
  void migrate(std::size_t steps, HashOf& hash_of_number) {
    if (old_cells_.empty()) return;
    while (steps-- > 0 && migrated_ < old_cells_.size()) {
      while (old_cells_[migrated_] != 0) {
        const std::uint32_t number = number_in(old_cells_[migrated_]);
        const std::uint32_t hash = hash_in(old_cells_[migrated_], hash_of_number);
        erase_in(old_cells_, hash, number, hash_of_number);
        put(hash, number);
      }
      ++migrated_;
    }
    if (migrated_ == old_cells_.size()) old_cells_ = Cells{};
  }

  Cells cells_, old_cells_;
  std::size_t count_ = 0;
  std::size_t migrated_ = 0;
};

using SlotTable = NumberTable<std::uint32_t>;    ///< small: the owner knows the hashes
using TaggedTable = NumberTable<std::uint64_t>;  ///< fast: the cells know them

}  // namespace nearcast
