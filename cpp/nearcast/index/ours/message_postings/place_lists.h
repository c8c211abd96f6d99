/// Lists of message places in 16-bit cells, by key, scanned many at a time.
///
/// A list holds the places side by side (4 bytes each) and, in a second arena at the same
/// positions, the messages: a scan reads places, and a message only when its place fits. There is
/// one corner for points and two for boxes (south-west and north-east).
///
/// When a message leaves, its postings stay. They are counted, and a list is swept when they are
/// half of it: an expiry changes only counters, and each sweep is paid for by the messages that
/// have left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/index/ours/sized_lists/frame.h"

namespace nearcast::postings {

using sized_lists::Cell;
using sized_lists::CellBox;

/// Two cells in one word: x below, y above.
using Corner = std::uint32_t;
inline Corner corner(Cell x, Cell y) { return static_cast<Corner>(y) << 16 | x; }

/// Bit i of `hits`: place i of at most 64 touches one of the windows.
using Scan = std::uint64_t (*)(const Corner* low, const Corner* high, std::uint32_t count,
                               std::span<const CellBox> windows);
Scan best_scan();
Scan plain_scan();

class PlaceLists {
 public:
  PlaceLists(std::uint32_t corners, Scan kernel) : corners_(corners), scan_(kernel) {}

  std::uint32_t live(std::size_t key) const { return key < lists_.size() ? lists_[key].live : 0; }
  std::uint32_t length(std::size_t key) const {
    return key < lists_.size() ? lists_[key].handle.size : 0;
  }

  void add(std::size_t key, const CellBox& place, MessageId message);

  /// The message of one posting of the list leaves. True: the list should be swept.
  bool forget(std::size_t key) {
    List& list = lists_[key];
    --list.live;
    return list.handle.size >= kSmall ? list.handle.size >= 2 * list.live : list.live == 0;
  }
  /// Keep the postings that `is_kept(message, lower corner)` accepts; it is called for the newest
  /// posting first.
  template <typename IsKept>
  void sweep(std::size_t key, IsKept&& is_kept);

  /// Calls visit(message) for each posting whose place touches a window; stale ones too.
  template <typename Visit>
  void scan(std::size_t key, std::span<const CellBox> windows, Visit&& visit) const;

  /// Prefetch the place of the next posting: first step 0, then step 1.
  void prefetch(std::size_t key, int step) const {
    if (key >= lists_.size()) return;
    if (step == 0) {
      prefetch_line(&lists_[key]);
      return;
    }
    const ListHandle& list = lists_[key].handle;
    prefetch_line(low_.at(list.start + list.size));
    prefetch_line(messages_.at(list.start + list.size));
  }

  /// A list that was emptied because its postings are elsewhere, under this number; 0: it was not.
  std::uint32_t split(std::size_t key) const { return key < lists_.size() ? lists_[key].split : 0; }
  void set_split(std::size_t key, std::uint32_t number);
  void count(std::size_t key, std::int32_t change) { lists_[key].live += change; }
  template <typename Visit>
  void for_each(std::size_t key, Visit&& visit) const {  ///< visit(message, lower corner)
    const ListHandle& list = lists_[key].handle;
    for (std::uint32_t i = 0; i < list.size; ++i) {
      visit(MessageId{messages_.at(list.start)[i]}, low_.at(list.start)[i]);
    }
  }
  std::size_t keys() const { return lists_.size(); }
  void clear();
  std::size_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kSmall = 16;

  struct List {
    ListHandle handle;        ///< the same in all arenas, which allocate and free alike
    std::uint32_t live = 0;   ///< of a split list too
    std::uint32_t split = 0;  ///< of MessagePostings
  };

  void grow(List& list);

  std::uint32_t corners_;
  Scan scan_;
  Array<List> lists_;
  ListArena<Corner> low_, high_;
  ListArena<std::uint32_t> messages_;
};

template <typename Visit>
void PlaceLists::scan(std::size_t key, std::span<const CellBox> windows, Visit&& visit) const {
  if (key >= lists_.size()) return;
  const ListHandle& list = lists_[key].handle;
  const Corner* low = low_.at(list.start);
  const Corner* high = corners_ == 1 ? low : high_.at(list.start);
  const std::uint32_t* messages = messages_.at(list.start);
  for (std::uint32_t first = 0; first < list.size; first += 64) {
    const std::uint32_t count = std::min(list.size - first, std::uint32_t{64});
    std::uint64_t hits = scan_(low + first, high + first, count, windows);
    for (; hits != 0; hits &= hits - 1) {
      visit(MessageId{messages[first + static_cast<std::uint32_t>(__builtin_ctzll(hits))]});
    }
  }
}

template <typename IsKept>
void PlaceLists::sweep(std::size_t key, IsKept&& is_kept) {
  List& list = lists_[key];
  const std::span<std::uint32_t> messages = messages_.view(list.handle);
  std::uint32_t to = list.handle.size;
  for (std::uint32_t from = list.handle.size; from-- > 0;) {
    if (!is_kept(MessageId{messages[from]}, low_.at(list.handle.start)[from])) continue;
    --to;
    messages[to] = messages[from];
    low_.at(list.handle.start)[to] = low_.at(list.handle.start)[from];
    if (corners_ == 2) high_.at(list.handle.start)[to] = high_.at(list.handle.start)[from];
  }
  const std::uint32_t kept = list.handle.size - to;
  // A list keeps its memory, because it will grow again.
  const auto shift = [&](auto& arena, ListHandle handle) {
    auto* items = arena.at(handle.start);
    std::copy(items + to, items + to + kept, items);
    arena.resize(handle, kept);
    return handle;
  };
  ListHandle shrunk = shift(messages_, list.handle);
  shift(low_, list.handle);
  if (corners_ == 2) shift(high_, list.handle);
  list.handle = shrunk;
}

}  // namespace nearcast::postings
