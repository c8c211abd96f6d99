/// Lists of many entries: blocks of eight in the order of sort_key() and then of ids, and a
/// directory of bounds that rules out most blocks, eight at a time.
///
/// Bounds are exact for what a block holds (up to rounding), after every change: a change reads one
/// block. A full block is split, a nearly empty one joined with a neighbour, so that a list that
/// has lived is as good as a new one. Splitting and joining move the directory behind the block, a
/// group for 64 entries: about one change in four does so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/topk/arrival/bounded_lists/kernels.h"

namespace nearcast::bounded_lists {

constexpr std::uint32_t kBlockSize = 8;

/// What a search reads is at the front: two cache lines at most.
struct Block {
  std::uint32_t cell[kBlockSize];
  std::uint32_t shape[kBlockSize];
  float slack[kBlockSize];  ///< −∞ in unused places
  std::uint32_t prints[kBlockSize];
  float other_text[kBlockSize];
  SubscriptionId id[kBlockSize];  ///< entries are the first ones; kNone behind them

  static constexpr SubscriptionId kNone = SubscriptionId{0xFFFFFFFFu};

  Columns columns() const { return {cell, kBlockSize}; }
  std::uint32_t size() const;
  Entry entry(std::uint32_t i) const {
    return {cell[i], shape[i], slack[i], prints[i], other_text[i], id[i]};
  }
  void put(std::uint32_t i, const Entry& entry);
  void clear(std::uint32_t i);
};

/// Eight blocks in the directory.
struct Group {
  Bounds bounds;
  std::uint32_t block[8];
  std::uint32_t first_key[8];  ///< no entry of the block has a smaller one
};

class LongLists {
 public:
  struct List {
    ListHandle groups;
    std::uint32_t blocks = 0, size = 0;
  };

  std::uint32_t make(std::span<Entry> entries);  ///< reorders them; returns the list's number
  void free(std::uint32_t number);
  std::uint32_t size(std::uint32_t number) const { return lists_[number].size; }
  void add(std::uint32_t number, const Entry& entry);
  bool remove(std::uint32_t number, const Entry& entry);  ///< false: was not there
  bool set_slack(std::uint32_t number, const Entry& entry);
  void collect(std::uint32_t number, std::vector<Entry>& out) const;

  std::span<const Group> groups(std::uint32_t number) const {
    return groups_.view(lists_[number].groups);
  }
  const Block& block(std::uint32_t number) const { return blocks_[number]; }
  /// Prefetch a list in step 1, the beginning of its directory in step 2.
  void prefetch(std::uint32_t number, int step) const {
    if (step == 1) {
      prefetch_line(&lists_[number]);
      return;
    }
    const char* first = reinterpret_cast<const char*>(groups_.at(lists_[number].groups.start));
    for (std::size_t line = 0; line < 8; ++line) prefetch_line(first + 64 * line);
  }
  void prefetch_block(std::uint32_t number) const {
    const char* at = reinterpret_cast<const char*>(&blocks_[number]);
    prefetch_line(at);
    prefetch_line(at + 64);
  }

  std::size_t memory_bytes() const;
  void check(std::uint32_t number) const;

 private:
  struct Place {
    std::uint32_t row, slot;
  };

  Group& group_of(const List& list, std::uint32_t row) {
    return groups_.at(list.groups.start)[row / 8];
  }
  const Group& group_of(const List& list, std::uint32_t row) const {
    return groups_.at(list.groups.start)[row / 8];
  }
  std::uint32_t block_of(const List& list, std::uint32_t row) const {
    return group_of(list, row).block[row % 8];
  }
  std::uint32_t key_of(const List& list, std::uint32_t row) const {
    return group_of(list, row).first_key[row % 8];
  }
  std::uint32_t row_for(const List& list, std::uint32_t key, SubscriptionId id) const;
  bool begins_after(const List& list, std::uint32_t row, std::uint32_t key,
                    SubscriptionId id) const;
  bool find(const List& list, const Entry& entry, Place& place) const;
  std::uint32_t take_block();
  void insert_row(List& list, std::uint32_t row, std::uint32_t block, std::uint32_t key);
  void remove_row(List& list, std::uint32_t row);
  void split(List& list, std::uint32_t row, const Entry& entry);
  bool join(List& list, std::uint32_t row, std::uint32_t from);
  void set_bounds(List& list, std::uint32_t row);

  Array<List> lists_;
  Array<std::uint32_t> free_lists_, free_blocks_;
  Array<Block> blocks_;
  ListArena<Group> groups_;
};

}  // namespace nearcast::bounded_lists
