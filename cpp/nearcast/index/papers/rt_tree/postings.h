/// Inverted lists per row and token: who, in this row, has this token? [Rt §5.1 I_n[t]]
///
/// Most lists have one element, which then stands in the token's cell itself; a longer one lies in
/// an arena. Finding an element to remove is a scan of its list: the paper's hash table per list
/// would take more memory than all else, and lists are short wherever rare tokens come first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/index/papers/rt_tree/token_tables.h"

namespace nearcast {

class PostingTables {
 public:
  using Item = std::uint32_t;

  std::size_t size() const { return size_; }  ///< postings of all rows
  /// In no order; empty if the row has no such token. Good until the next change.
  std::span<const Item> find(std::size_t row, TokenKey key) const {
    const TokenTables::Cell* cell = tables_.find(row, key);
    return cell == nullptr ? std::span<const Item>{} : items_of(*cell);
  }
  /// Calls visit(key, items) for each token of the row.
  template <typename Visit>
  void for_each(std::size_t row, Visit&& visit) const {
    tables_.for_each(row,
                     [&](const TokenTables::Cell& cell) { visit(cell.key(), items_of(cell)); });
  }
  const TokenTables& tables() const { return tables_; }

  void add_row(std::size_t row) { tables_.add_row(row); }
  void clear(std::size_t row);  ///< no tokens and no memory
  void add(std::size_t row, TokenKey key, Item item);
  void remove(std::size_t row, TokenKey key, Item item);  ///< is there

  std::size_t memory_bytes() const;
  void check_invariants(const char* owner) const;

 private:
  // A cell's mark says that its value is the number of a list, not the only element.
  std::span<const Item> items_of(const TokenTables::Cell& cell) const {
    if (!cell.mark) return {&cell.value, 1};
    return items_.view(lists_[cell.value]);
  }
  std::uint32_t new_list();
  void free_list(std::uint32_t list);

  TokenTables tables_;
  Array<ListHandle> lists_;
  Array<std::uint32_t> free_lists_;
  ListArena<Item> items_;
  std::uint64_t size_ = 0;
};

}  // namespace nearcast
