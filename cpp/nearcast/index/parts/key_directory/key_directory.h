/// Which list belongs to this row and this column? One hash table for all rows, so a row costs 16
/// bytes however many columns there could be.
///
/// Rows are cells of a tree or grid and columns keywords, or the other way round: that is what
/// makes an index spatial-prioritized or keyword-prioritized. A list is a number with a payload of
/// the user's choice. Each row has a filter of 64 bits over its columns, so that most look-ups end
/// without reading the table, and a chain of its lists, for when a cell is divided or freed.
#pragma once

#include <cstdint>

#include "nearcast/base/array.h"
#include "nearcast/base/errors.h"
#include "nearcast/base/hash.h"
#include "nearcast/base/slot_table.h"

namespace nearcast {

struct NoPayload {};

/// Payload: what stands beside the number of a list; zero when the list is made.
template <typename Payload = NoPayload>
class KeyDirectory {
 public:
  using Number = std::uint32_t;
  static constexpr Number kNone = TaggedTable::kNone;
  static constexpr std::uint32_t kSpecial = 0xFFFFFFFFu;  ///< a column with a filter bit of its own

  static std::uint64_t filter_bit(std::uint32_t column) {
    return std::uint64_t{1} << (column == kSpecial ? 63 : hash_of(column) % 63);
  }
  /// Which columns may the row have? Bits of columns that are gone may be set.
  std::uint64_t filter(std::uint32_t row) const {
    return row < rows_.size() ? rows_[row].filter : 0;
  }

  Number find(std::uint32_t row, std::uint32_t column) const {
    return by_key_.find(hash_of_key(row, column), [&](Number number) {
      return lists_[number].row == row && lists_[number].column == column;
    });
  }
  Number create(std::uint32_t row, std::uint32_t column);  ///< is not there
  Number find_or_create(std::uint32_t row, std::uint32_t column) {
    const Number number = find(row, column);
    return number == kNone ? create(row, column) : number;
  }
  void free(Number number);
  void clear() { *this = {}; }

  Payload& operator[](Number number) { return lists_[number].payload; }
  const Payload& operator[](Number number) const { return lists_[number].payload; }
  std::uint32_t row_of(Number number) const { return lists_[number].row; }
  std::uint32_t column_of(Number number) const { return lists_[number].column; }

  /// The lists of a row in no order, until kNone.
  Number first_of(std::uint32_t row) const {
    return row < rows_.size() ? rows_[row].first - 1 : kNone;
  }
  Number next_after(Number number) const { return lists_[number].next - 1; }

  std::size_t rows() const { return rows_.size(); }  ///< no row from here on has a list
  std::size_t memory_bytes() const {
    return rows_.memory_bytes() + lists_.memory_bytes() + free_.memory_bytes() +
           by_key_.memory_bytes();
  }
  void check(std::uint32_t row) const;  ///< throws an internal error unless the row is whole

 private:
  struct Row {
    std::uint64_t filter;
    std::uint32_t first;  ///< 1 + number of a list; 0: none
  };
  struct List {
    std::uint32_t row, column;
    std::uint32_t previous, next;  ///< in the row's chain: 1 + number; 0: none
    [[no_unique_address]] Payload payload;
  };

  static std::uint32_t hash_of_key(std::uint32_t row, std::uint32_t column) {
    return hash_of(std::uint64_t{row} << 32 | column);
  }
  auto hashes() const {
    return [this](Number number) { return hash_of_key(lists_[number].row, lists_[number].column); };
  }

  Array<Row> rows_;
  Array<List> lists_;
  Array<Number> free_;
  TaggedTable by_key_;
};

template <typename Payload>
std::uint32_t KeyDirectory<Payload>::create(std::uint32_t row, std::uint32_t column) {
  Number number = static_cast<Number>(lists_.size());
  if (free_.empty()) {
    lists_.resize(lists_.size() + 1);
  } else {
    number = free_.back();
    free_.pop_back();
  }
  if (rows_.size() <= row) rows_.resize(row + std::size_t{1});
  Row& at = rows_[row];
  lists_[number] = {row, column, 0, at.first, Payload{}};
  if (at.first != 0) lists_[at.first - 1].previous = number + 1;
  at.first = number + 1;
  at.filter |= filter_bit(column);
  by_key_.insert(hash_of_key(row, column), number, hashes());
  return number;
}

template <typename Payload>
void KeyDirectory<Payload>::free(Number number) {
  const List list = lists_[number];
  Row& row = rows_[list.row];
  by_key_.erase(hash_of_key(list.row, list.column), number, hashes());
  if (list.next != 0) lists_[list.next - 1].previous = list.previous;
  (list.previous != 0 ? lists_[list.previous - 1].next : row.first) = list.next;
  if (row.first == 0) row.filter = 0;
  lists_[number] = List{};
  free_.push_back(number);
}

template <typename Payload>
void KeyDirectory<Payload>::check(std::uint32_t row) const {
  std::uint32_t previous = 0;
  for (Number number = first_of(row); number != kNone; number = next_after(number)) {
    const List& list = lists_[number];
    ensure(list.row == row && list.previous == previous, "key directory: a row's chain is broken");
    ensure(find(row, list.column) == number, "key directory: a list is not found by its key");
    ensure((filter(row) & filter_bit(list.column)) != 0, "key directory: a filter hides a column");
    previous = number + 1;
  }
}

}  // namespace nearcast
