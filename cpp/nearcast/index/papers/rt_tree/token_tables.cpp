#include "nearcast/index/papers/rt_tree/token_tables.h"

#include <algorithm>
#include <string>

namespace nearcast {

/// The capacities of the arena's size classes, so that tables use all that it allocates.
std::uint32_t TokenTables::capacity_for(std::uint32_t keys) {
  std::uint32_t size_class = 2;
  while (capacity_of(size_class) * std::uint64_t{3} < keys * std::uint64_t{4}) ++size_class;
  return capacity_of(size_class);
}

void TokenTables::add_row(std::size_t row) {
  if (tables_.size() <= row) tables_.resize(row + 1);
  ensure(tables_[row].used == 0, "token tables: a new row has keys already");
}

void TokenTables::clear(std::size_t row) {
  Table& table = tables_[row];
  if (table.capacity != 0) cells_.free(table.start, table.capacity);
  table = Table{};
}

void TokenTables::rehash(Table& table, std::uint32_t capacity) {
  const Table old = table;
  table.start = cells_.allocate(capacity);
  table.capacity = capacity;
  Cell* cells = cells_.at(table.start);
  std::fill(cells, cells + capacity, Cell{});
  for (std::uint32_t i = 0; i < old.capacity; ++i) {
    const Cell& cell = *cells_.at(old.start + i);
    if (cell.key() == kNoKey) continue;
    std::uint32_t at = home(cell.key(), capacity);
    while (cells[at].key() != kNoKey) at = next(at, capacity);
    cells[at] = cell;
  }
  if (old.capacity != 0) cells_.free(old.start, old.capacity);
}

TokenTables::Cell& TokenTables::obtain(std::size_t row, TokenKey key) {
  if (Cell* found = find(row, key)) return *found;
  Table& table = tables_[row];
  if ((table.used + 1) * std::uint64_t{4} > table.capacity * std::uint64_t{3}) {
    rehash(table, capacity_for(table.used + 1));
  }
  ++table.used;
  Cell* cells = cells_.at(table.start);
  std::uint32_t at = home(key, table.capacity);
  while (cells[at].key() != kNoKey) at = next(at, table.capacity);
  cells[at].key_bits = raw(key) & 0x7FFFFFFFu;
  return cells[at];
}

void TokenTables::erase(std::size_t row, TokenKey key) {
  Cell* found = find(row, key);
  ensure(found != nullptr, "token tables: a key to erase is not there");
  Table& table = tables_[row];
  if (--table.used == 0) return clear(row);
  close_gap(table, static_cast<std::uint32_t>(found - cells_.at(table.start)));
  // Far below the load at which it grew, so that a row whose size alternates is not resized each
  // time.
  if (table.used * std::uint64_t{4} < table.capacity && table.capacity > 8) {
    rehash(table, capacity_for(table.used + table.used / 4));
  }
}

/// Backward-shift deletion: no tombstones, so probes stay short under churn.
void TokenTables::close_gap(const Table& table, std::uint32_t hole) {
  Cell* cells = cells_.at(table.start);
  for (std::uint32_t at = next(hole, table.capacity); cells[at].key() != kNoKey;
       at = next(at, table.capacity)) {
    const std::uint32_t wanted = home(cells[at].key(), table.capacity);
    const bool stays =
        hole < at ? (wanted > hole && wanted <= at) : (wanted > hole || wanted <= at);
    if (stays) continue;
    cells[hole] = cells[at];
    hole = at;
  }
  cells[hole] = Cell{};
}

void TokenTables::check_invariants(const char* owner) const {
  for (std::size_t row = 0; row < rows(); ++row) {
    std::size_t keys = 0;
    for_each(row, [&](const Cell& cell) {
      ++keys;
      const Cell* found = find(row, cell.key());
      if (found == nullptr || found->value != cell.value) {
        broken(std::string(owner) + ": a token's cell cannot be found");
      }
    });
    if (keys != size(row)) broken(std::string(owner) + ": the number of tokens is wrong");
  }
}

}  // namespace nearcast
