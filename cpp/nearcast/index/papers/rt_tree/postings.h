/// Inverted lists per row and token: which elements of this row have this token? [Rt §5.1 I_n[t]]
///
/// Most lists have one element, which then stands in the token's cell itself; a longer one is a
/// list of blocks (base/block_lists.h), ascending, so that an element to remove is found at once.
/// The paper's hash table per list would take more memory than all else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/block_lists.h"
#include "nearcast/index/papers/rt_tree/token_tables.h"

namespace nearcast {

class PostingTables {
 public:
  using Item = std::uint32_t;

  std::size_t size() const { return size_; }  ///< postings of all rows
  bool has(std::size_t row, TokenKey key) const { return tables_.find(row, key) != nullptr; }
  bool has(std::size_t row, TokenKey key, Item item) const;
  /// Calls visit(items) for each stretch of the list, in ascending order; not at all if the row has
  /// no such token.
  template <typename Visit>
  void for_each_block(std::size_t row, TokenKey key, Visit&& visit) const {
    const TokenTables::Cell* cell = tables_.find(row, key);
    if (cell != nullptr) for_each_block(*cell, visit);
  }
  template <typename Visit>
  void for_each_block(const TokenTables::Cell& cell, Visit&& visit) const {
    if (!cell.mark) return visit(std::span<const Item>(&cell.value, 1));
    items_.for_each_block(lists_[cell.value], visit);
  }
  /// Calls visit(cell) for each token of the row.
  template <typename Visit>
  void for_each(std::size_t row, Visit&& visit) const {
    tables_.for_each(row, visit);
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
  std::size_t size_of(const TokenTables::Cell& cell) const {
    return cell.mark ? lists_[cell.value].size : 1;
  }
  std::uint32_t new_list();
  void free_list(std::uint32_t list);

  TokenTables tables_;
  Array<BlockList> lists_;
  Array<std::uint32_t> free_lists_;
  BlockLists<Item, std::identity> items_;
  std::uint64_t size_ = 0;
};

}  // namespace nearcast
