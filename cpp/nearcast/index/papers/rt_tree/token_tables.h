/// Many hash tables from token keys to numbers, in one array: one table per row, a row being a node
/// of a tree or a cell of a grid.
///
/// [Rt §3.1 TokenSets as hash tables] Here a table is a stretch of 8-byte cells inside a shared
/// arena, between half and three quarters full, with linear probing: a probe reads one cache line
/// or two, and a node without tokens costs 12 bytes.
///
/// What the number means is the owner's choice: how often a token occurs below a node
/// (rt_tree/token_counts.h) or which entries have it (rt_tree/postings.h), for which a cell has one
/// bit more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "nearcast/base/array.h"
#include "nearcast/base/hash.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/index/papers/rt_tree/token_key.h"

namespace nearcast {

class TokenTables {
 public:
  struct Cell {
    std::uint32_t key_bits : 31;  ///< 0: empty
    std::uint32_t mark : 1;       ///< the owner's
    std::uint32_t value;

    TokenKey key() const { return TokenKey{key_bits}; }
  };

  std::size_t rows() const { return tables_.size(); }
  std::size_t size(std::size_t row) const { return tables_[row].used; }  ///< number of keys

  const Cell* find(std::size_t row, TokenKey key) const {  ///< nullptr: the row has no such key
    const Table& table = tables_[row];
    if (table.used == 0) return nullptr;
    const Cell* cells = cells_.at(table.start);
    std::uint32_t at = home(key, table.capacity);
    while (cells[at].key() != key) {
      if (cells[at].key() == kNoKey) return nullptr;
      at = next(at, table.capacity);
    }
    return cells + at;
  }
  Cell* find(std::size_t row, TokenKey key) {
    return const_cast<Cell*>(std::as_const(*this).find(row, key));
  }
  /// Prefetch what find(row, …) reads first.
  void prefetch(std::size_t row) const { prefetch_line(&tables_[row]); }

  /// Calls visit(cell) for each key of the row, in no order.
  template <typename Visit>
  void for_each(std::size_t row, Visit&& visit) const;

  void add_row(std::size_t row);  ///< with no keys; a row may be added again
  void clear(std::size_t row);    ///< no keys and no memory
  Cell& obtain(std::size_t row,
               TokenKey key);                 ///< new: value 0, no mark. Good until the next change
  void erase(std::size_t row, TokenKey key);  ///< is there

  std::size_t memory_bytes() const { return tables_.memory_bytes() + cells_.memory_bytes(); }
  /// Throws an internal error, in the name of `owner`, unless each key can be found.
  void check_invariants(const char* owner) const;

 private:
  struct Table {
    std::uint32_t start, used, capacity;
  };

  static std::uint32_t home(TokenKey key, std::uint32_t capacity) {
    return static_cast<std::uint32_t>((std::uint64_t{hash_of(raw(key))} * capacity) >> 32);
  }
  static std::uint32_t next(std::uint32_t at, std::uint32_t capacity) {
    return at + 1 == capacity ? 0 : at + 1;
  }
  static std::uint32_t capacity_for(std::uint32_t keys);

  void rehash(Table& table, std::uint32_t capacity);
  void close_gap(const Table& table, std::uint32_t hole);

  Array<Table> tables_;
  ListArena<Cell> cells_;
};

template <typename Visit>
void TokenTables::for_each(std::size_t row, Visit&& visit) const {
  const Table& table = tables_[row];
  for (std::uint32_t at = 0; at < table.capacity; ++at) {
    const Cell cell = *cells_.at(table.start + at);  // a copy: visitors may change other rows
    if (cell.key() != kNoKey) visit(cell);
  }
}

}  // namespace nearcast
