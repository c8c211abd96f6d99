/// A hash table from keys that lie elsewhere to dense numbers.
///
/// Holds only the numbers, at most 80 % full; the owner compares keys and knows hashes. Growth is
/// spread over the inserts that follow it: no insert pays for the whole table.
///
///   8 bytes a cell   the number + 1, and the whole hash
///   4 bytes a cell   the number + 1 in as many bits as the table's size requires; above it how far
///                    the cell is from its home, and the rest of the hash: nearly always enough to
///                    tell other keys apart without reading them
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/prefetch.h"

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

  /// The number in the first cell that may hold this hash, or kNone: what to prefetch.
  std::uint32_t guess(std::uint32_t hash) const {
    if (cells_.empty()) return kNone;
    const Cell cell = cells_[cells_.home(hash)];
    return cell != 0 && cells_.marks(cell) == cells_.marks(hash, 0) ? cells_.number(cell) : kNone;
  }
  /// Pull the cell where `hash` would be into the cache.
  void prefetch(std::uint32_t hash) const {
    if (!cells_.empty()) prefetch_line(&cells_[cells_.home(hash)]);
  }

  /// Insert a number whose key is not there. `hash_of_number` tells the hash of any number present.
  template <typename HashOf>
  void insert(std::uint32_t hash, std::uint32_t number, HashOf&& hash_of_number) {
    if ((count_ + 1) * 5 > cells_.size() * 4 || !cells_.fits(number)) {
      migrate(~std::size_t{0}, hash_of_number);
      const bool is_full = (count_ + 1) * 5 > cells_.size() * 4;
      swap_in(is_full ? cells_.size() * 2 + 16 : cells_.size(), number);
    }
    put(hash, number);
    ++count_;
    migrate(kSteps, hash_of_number);
  }

  template <typename HashOf>
  bool erase(std::uint32_t hash, std::uint32_t number, HashOf&& hash_of_number) {
    migrate(kSteps, hash_of_number);
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
    swap_in(std::max(count * 5 / 4 + 16, count_ == 0 ? 0 : cells_.size() * 3 / 2), 0);
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

  /// Of a table that was read: is every number that `is_used` accepts there once, no other one, and
  /// each where a search finds it? `count` numbers are used, all below `limit`.
  template <typename IsUsed, typename HashOf>
  void check_loaded(std::size_t limit, std::size_t count, IsUsed&& is_used,
                    HashOf&& hash_of_number) const {
    constexpr const char* kWhat = "a table of hashes";
    expect(count_ == count && (old_cells_.empty() || migrated_ <= old_cells_.size()), kWhat);
    for (std::size_t i = 0; i < migrated_ && !old_cells_.empty(); ++i) {
      expect(old_cells_[i] == 0, kWhat);
    }
    expect(cells_.empty() || count_ < cells_.size(), kWhat);
    Claims numbers(limit);
    const std::size_t found = check_cells(cells_, numbers, is_used, hash_of_number) +
                              check_cells(old_cells_, numbers, is_used, hash_of_number);
    expect(found == count, kWhat);
  }

 private:
  /// Old cells that a change moves: a table grows by half at least, and is moved before it grows
  /// again.
  static constexpr std::size_t kSteps = 4;

  struct Header {
    std::uint64_t count, migrated;
  };

  static constexpr bool kHasHash = sizeof(Cell) == 8;

  /// Cells in a ring; 0: empty.
  class Cells {
   public:
    Cells() = default;
    Cells(std::size_t size, std::uint32_t largest_number) {
      cells_.resize(size);
      set_bits(std::max<std::uint64_t>(size, std::uint64_t{largest_number} + 1));
    }

    std::size_t size() const { return cells_.size(); }
    bool empty() const { return cells_.empty(); }
    Cell& operator[](std::size_t i) { return cells_[i]; }
    const Cell& operator[](std::size_t i) const { return cells_[i]; }
    std::size_t memory_bytes() const { return cells_.memory_bytes(); }
    std::uint32_t number_bits() const { return number_bits_; }

    std::size_t home(std::uint32_t hash) const {
      return static_cast<std::size_t>((static_cast<std::uint64_t>(hash) * size()) >> 32);
    }
    std::size_t next(std::size_t cell) const { return cell + 1 == size() ? 0 : cell + 1; }
    std::size_t distance(std::size_t from, std::size_t to) const {
      return to >= from ? to - from : to + size() - from;
    }

    bool fits(std::uint32_t number) const {
      return (std::uint64_t{number} + 1) >> number_bits_ == 0;
    }
    std::uint32_t number(Cell cell) const {
      return static_cast<std::uint32_t>(cell & ((std::uint64_t{1} << number_bits_) - 1)) - 1;
    }
    /// The bits above the number, for a cell at that distance from its home.
    Cell marks(std::uint32_t hash, std::size_t distance) const {
      if constexpr (kHasHash) return hash;
      const std::uint64_t of_hash = (std::uint64_t{hash} << distance_bits_) & mark_mask_;
      return static_cast<Cell>(of_hash | std::min<std::uint64_t>(distance, farthest_));
    }
    Cell marks(Cell cell) const { return static_cast<Cell>(std::uint64_t{cell} >> number_bits_); }
    Cell make(std::uint32_t hash, std::uint32_t number, std::size_t distance) const {
      return static_cast<Cell>(std::uint64_t{marks(hash, distance)} << number_bits_ |
                               (std::uint64_t{number} + 1));
    }
    /// The same cell, at that distance from its home.
    Cell at_distance(Cell cell, std::size_t distance) const {
      if constexpr (kHasHash) return cell;
      const std::uint64_t kept = cell & ~(farthest_ << number_bits_);
      return static_cast<Cell>(kept | std::min<std::uint64_t>(distance, farthest_) << number_bits_);
    }
    /// The home of the cell at `place`.
    template <typename HashOf>
    std::size_t home_of(std::size_t place, HashOf& hash_of_number) const {
      const Cell cell = cells_[place];
      if constexpr (kHasHash) return home(static_cast<std::uint32_t>(cell >> 32));
      const std::uint64_t away = marks(cell) & farthest_;
      if (away < farthest_) return place >= away ? place - away : place + size() - away;
      return home(hash_of_number(number(cell)));
    }
    template <typename HashOf>
    std::uint32_t hash_in(Cell cell, HashOf& hash_of_number) const {
      if constexpr (kHasHash) return static_cast<std::uint32_t>(cell >> 32);
      return hash_of_number(number(cell));
    }

    void save(ArchiveWriter& out) const {
      out.value(number_bits_);
      cells_.save(out);
    }
    void load(ArchiveReader& in) {
      const auto bits = in.value<std::uint32_t>();
      cells_.load(in);
      if (!cells_.empty()) set_bits(std::uint64_t{1} << (std::clamp(bits, 1u, 32u) - 1));
    }

   private:
    void set_bits(std::uint64_t largest) {  ///< of the field that holds a number
      if constexpr (kHasHash) {
        number_bits_ = 32;
        return;
      }
      number_bits_ = static_cast<std::uint32_t>(std::bit_width(largest));
      distance_bits_ = std::min(5u, 32 - number_bits_);
      farthest_ = (std::uint64_t{1} << distance_bits_) - 1;
      mark_mask_ = ((std::uint64_t{1} << (32 - number_bits_)) - 1) & ~farthest_;
    }

    Array<Cell> cells_;
    std::uint32_t number_bits_ = 0, distance_bits_ = 0;
    std::uint64_t farthest_ = 0, mark_mask_ = 0;  ///< farthest_ stands for itself and all beyond
  };

  template <typename IsUsed, typename HashOf>
  static std::size_t check_cells(const Cells& cells, Claims& numbers, IsUsed& is_used,
                                 HashOf& hash_of_number) {
    constexpr const char* kWhat = "a table of hashes";
    std::size_t empty = 0;
    while (empty < cells.size() && cells[empty] != 0) ++empty;
    expect(cells.empty() || empty < cells.size(), kWhat);  // a search ends at an empty cell
    std::size_t found = 0;
    std::size_t run = 0;  // full cells just before this one
    std::size_t place = empty;
    for (std::size_t i = 0; i < cells.size(); ++i, place = cells.next(place)) {
      if (cells[place] == 0) {
        run = 0;
        continue;
      }
      const std::uint32_t number = cells.number(cells[place]);
      numbers.claim(number, kWhat);
      expect(is_used(number), kWhat);
      const std::uint32_t hash = hash_of_number(number);
      const std::size_t away = cells.distance(cells.home(hash), place);
      expect(away <= run && cells[place] == cells.make(hash, number, away), kWhat);
      ++run;
      ++found;
    }
    return found;
  }

  template <typename IsKey>
  static std::uint32_t find_in(const Cells& cells, std::uint32_t hash, IsKey&& is_key) {
    if (cells.empty()) return kNone;
    std::size_t away = 0;
    for (std::size_t cell = cells.home(hash); cells[cell] != 0; cell = cells.next(cell), ++away) {
      if (cells.marks(cells[cell]) == cells.marks(hash, away) && is_key(cells.number(cells[cell])))
        return cells.number(cells[cell]);
    }
    return kNone;
  }

  void put(std::uint32_t hash, std::uint32_t number) {
    std::size_t cell = cells_.home(hash), away = 0;
    for (; cells_[cell] != 0; ++away) cell = cells_.next(cell);
    cells_[cell] = cells_.make(hash, number, away);
  }

  /// Backward-shift deletion: no tombstones, so probes stay short under churn.
  template <typename HashOf>
  static bool erase_in(Cells& cells, std::uint32_t hash, std::uint32_t number,
                       HashOf& hash_of_number) {
    if (cells.empty()) return false;
    std::size_t hole = cells.home(hash);
    while (cells[hole] == 0 || cells.number(cells[hole]) != number) {
      if (cells[hole] == 0) return false;
      hole = cells.next(hole);
    }
    for (std::size_t cell = cells.next(hole); cells[cell] != 0; cell = cells.next(cell)) {
      const std::size_t wanted = cells.home_of(cell, hash_of_number);
      if (cells.distance(wanted, cell) < cells.distance(hole, cell)) continue;
      cells[hole] = cells.at_distance(cells[cell], cells.distance(wanted, hole));
      hole = cell;
    }
    cells[hole] = 0;
    return true;
  }

  void swap_in(std::size_t size, std::uint32_t largest_number) {
    old_cells_ = std::move(cells_);
    const std::uint64_t known = (std::uint64_t{1} << old_cells_.number_bits()) / 2;
    cells_ =
        Cells(size, std::max(largest_number, static_cast<std::uint32_t>(kHasHash ? 0 : known)));
    migrated_ = 0;
  }

  /// Move the contents of up to `steps` old cells. An old cell is emptied by erase_in, so that
  /// probe chains of what is still there stay whole.
  template <typename HashOf>
  void migrate(std::size_t steps, HashOf& hash_of_number) {
    if (old_cells_.empty()) return;
    while (steps-- > 0 && migrated_ < old_cells_.size()) {
      while (old_cells_[migrated_] != 0) {
        const std::uint32_t number = old_cells_.number(old_cells_[migrated_]);
        const std::uint32_t hash = old_cells_.hash_in(old_cells_[migrated_], hash_of_number);
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

using SlotTable = NumberTable<std::uint32_t>;    ///< small: the owner computes the hashes
using TaggedTable = NumberTable<std::uint64_t>;  ///< fast: the cells hold the hashes

}  // namespace nearcast
