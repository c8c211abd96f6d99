#include "nearcast/index/papers/rt_tree/postings.h"

#include <string>

namespace nearcast {

bool PostingTables::has(std::size_t row, TokenKey key, Item item) const {
  const TokenTables::Cell* cell = tables_.find(row, key);
  if (cell == nullptr) return false;
  return cell->mark ? items_.find(lists_[cell->value], item) != nullptr : cell->value == item;
}

std::uint32_t PostingTables::new_list() {
  if (free_lists_.empty()) {
    lists_.push_back({});
    return static_cast<std::uint32_t>(lists_.size() - 1);
  }
  const std::uint32_t list = free_lists_.back();
  free_lists_.pop_back();
  return list;
}

void PostingTables::free_list(std::uint32_t list) {
  items_.release(lists_[list]);
  free_lists_.push_back(list);
}

void PostingTables::clear(std::size_t row) {
  tables_.for_each(row, [&](const TokenTables::Cell& cell) {
    size_ -= size_of(cell);
    if (cell.mark) free_list(cell.value);
  });
  tables_.clear(row);
}

void PostingTables::add(std::size_t row, TokenKey key, Item item) {
  ++size_;
  const std::size_t keys = tables_.size(row);
  TokenTables::Cell& cell = tables_.obtain(row, key);
  if (tables_.size(row) != keys) {  // the token is new here
    cell.value = item;
    return;
  }
  if (!cell.mark) {
    const std::uint32_t list = new_list();
    items_.insert(lists_[list], cell.value);
    cell.mark = 1;
    cell.value = list;
  }
  items_.insert(lists_[cell.value], item);
}

void PostingTables::remove(std::size_t row, TokenKey key, Item item) {
  TokenTables::Cell* cell = tables_.find(row, key);
  ensure(cell != nullptr, "postings: a token to remove is not there");
  --size_;
  if (!cell->mark) {
    ensure(cell->value == item, "postings: an element to remove is not there");
    return tables_.erase(row, key);
  }
  BlockList& list = lists_[cell->value];
  ensure(items_.erase(list, item), "postings: an element to remove is not in its list");
  if (list.size > 1) return;
  Item last = 0;
  items_.for_each_block(list, [&](std::span<const Item> only) { last = only[0]; });
  free_list(cell->value);
  cell->mark = 0;
  cell->value = last;
}

std::size_t PostingTables::memory_bytes() const {
  return tables_.memory_bytes() + lists_.memory_bytes() + free_lists_.memory_bytes() +
         items_.memory_bytes();
}

void PostingTables::check_invariants(const char* owner) const {
  tables_.check_invariants(owner);
  std::size_t items = 0, lists = 0;
  for (std::size_t row = 0; row < tables_.rows(); ++row) {
    tables_.for_each(row, [&](const TokenTables::Cell& cell) {
      items += size_of(cell);
      lists += cell.mark;
      if (cell.mark) items_.check(lists_[cell.value]);
    });
  }
  if (items != size_) broken(std::string(owner) + ": the number of postings is wrong");
  if (lists + free_lists_.size() != lists_.size()) {
    broken(std::string(owner) + ": a list is neither in use nor free");
  }
}

}  // namespace nearcast
