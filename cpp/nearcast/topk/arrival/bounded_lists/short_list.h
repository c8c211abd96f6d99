/// Lists of a few hundred entries at most: six columns in one block, in no order, read in full.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/topk/arrival/bounded_lists/kernels.h"

namespace nearcast::bounded_lists {

class ShortLists {
 public:
  struct List {
    std::uint32_t start = 0, size = 0, capacity = 0;
  };
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFFu;

  void add(List& list, const Entry& entry);
  void remove(List& list, std::uint32_t place);  ///< the last one takes its place
  void release(List& list);
  std::uint32_t find(const List& list, SubscriptionId id) const;
  Entry entry(const List& list, std::uint32_t place) const;
  void set_slack(const List& list, std::uint32_t place, float slack) {
    std::memcpy(block_.at(list.start) + 2 * list.capacity + place, &slack, sizeof(slack));
  }

  Columns columns(const List& list, std::uint32_t first) const {
    return {block_.at(list.start) + first, list.capacity};
  }
  const std::uint32_t* ids(const List& list) const {
    return block_.at(list.start) + 5 * list.capacity;
  }
  /// Do eight entries from the first on lie inside the block, in each column but that of ids?
  static bool has_room_for_groups(const List& list) { return list.capacity >= 8; }
  void prefetch(const List& list) const {
    const std::uint32_t* block = block_.at(list.start);
    for (std::uint32_t word = 0; word < 5 * list.capacity && word < 320; word += 16)
      prefetch_line(block + word);
  }

  std::size_t memory_bytes() const { return block_.memory_bytes(); }

 private:
  static constexpr std::uint32_t kColumns = 6;

  ListArena<std::uint32_t> block_;
};

}  // namespace nearcast::bounded_lists
