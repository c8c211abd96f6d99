// BoundedArray, Array, ListArena and BlockLists: what they hold, and what they refuse.
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/block_lists.h"
#include "nearcast/base/bounded_array.h"
#include "nearcast/base/list_arena.h"
#include "tests/unit/check.h"

namespace nearcast::unit {
namespace {

const Test kBounded("a full bounded array refuses one more and keeps what it has", [] {
  BoundedArray<std::uint32_t, 3> array;
  check(array.empty() && array.capacity() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) array.push_back(i * 7);
  check(array.is_full() && array[2] == 14);
  check_throws(ErrorKind::kInternal, [&] { array.push_back(1); });
  check(array.size() == 3 && array.view().back() == 14);
  if (kChecksIndexes) check_throws(ErrorKind::kInternal, [&] { array[3] = 0; });
  array.clear();
  check(array.empty() && array.begin() == array.end());
});

const Test kOwnElement("an array can append an element of its own while it moves", [] {
  Array<std::uint64_t> array;
  array.push_back(42);
  for (int i = 0; i < 100'000; ++i) array.push_back(array[0]);  // crosses heap and addresses
  check(array.size() == 100'001 && array.back() == 42);
});

const Test kZero("elements that come back after an array shrank are zero", [] {
  for (const std::size_t size : {8, 1'000, 300'000}) {
    Array<std::uint64_t> array;
    array.resize(size);
    for (std::uint64_t& each : array) each = ~std::uint64_t{0};
    array.resize(1);
    array.resize(size + 1);
    check(array[0] == ~std::uint64_t{0});
    for (std::size_t i = 1; i <= size; ++i) check(array[i] == 0);
  }
});

const Test kClasses("capacities ascend, and no class loses more than it holds", [] {
  for (std::uint32_t c = 1; c < 66; ++c) {
    check(c == 65 || capacity_of(c) < capacity_of(c + 1));
    check(c < 9 || capacity_of(c) <= capacity_of(c - 1) / 2 * 3);
  }
  check(capacity_of(65) == 0xC0000000u || capacity_of(65) == 0x80000000u);
});

const Test kArena("lists of an arena are what vectors would be, whatever order they change in", [] {
  ListArena<std::uint32_t> arena;
  std::vector<ListHandle> lists(50);
  std::vector<std::vector<std::uint32_t>> truth(50);
  std::mt19937 dice(1);
  for (std::uint32_t step = 0; step < 40'000; ++step) {
    const std::size_t i = dice() % 50;
    const std::uint32_t what = dice() % 16;
    if (what < 10) {
      arena.push_back(lists[i], step);
      truth[i].push_back(step);
    } else if (what < 14 && !truth[i].empty()) {
      const std::uint32_t position = dice() % static_cast<std::uint32_t>(truth[i].size());
      arena.swap_remove(lists[i], position);
      truth[i][position] = truth[i].back();
      truth[i].pop_back();
    } else if (what == 14) {
      const std::uint32_t size = dice() % 40;
      arena.resize(lists[i], size);
      truth[i].resize(size);
    } else if (what == 15 && dice() % 8 == 0) {
      arena.release(lists[i]);
      truth[i].clear();
    }
    const auto view = arena.view(lists[i]);
    check(std::vector<std::uint32_t>(view.begin(), view.end()) == truth[i]);
  }
  Claims claims = arena.claim_free();  // every place is free or of one list
  for (const ListHandle& list : lists) {
    if (list.size_class != 0) claims.claim(list.start, capacity_of(list.size_class), "list");
  }
  for (std::size_t i = 0; i < arena.places(); ++i) check(claims.has(i));
});

const Test kReuse("a place that was given back serves the next list of its size", [] {
  ListArena<std::uint64_t> arena;
  const std::uint32_t first = arena.allocate(12);
  arena.allocate(12);
  const std::size_t places = arena.places();
  for (int i = 0; i < 1000; ++i) {
    arena.free(first, 12);
    check(arena.allocate(12) == first);
  }
  check(arena.places() == places);
});

const Test kTooLarge("a list that no size class holds is refused", [] {
  ListArena<std::uint32_t> arena;
  check_throws(ErrorKind::kCapacity, [&] { arena.allocate(0xC0000001u); });
  check(arena.places() == 0 && arena.room() > 0xF0000000u);
});

struct Pair {
  std::uint32_t key, value;
};
struct KeyOf {
  std::uint32_t operator()(const Pair& pair) const { return pair.key; }
};
using Lists = BlockLists<Pair, KeyOf>;

void check_same(const Lists& lists, const BlockList& list,
                const std::map<std::uint32_t, std::uint32_t>& truth) {
  lists.check(list);
  check(list.size == truth.size());
  auto next = truth.begin();
  lists.for_each_block(list, [&](std::span<const Pair> block) {
    for (const Pair& pair : block) {
      check(next != truth.end() && pair.key == next->first && pair.value == next->second);
      ++next;
    }
  });
  check(next == truth.end());
}

const Test kBlocks("a block list is a map, below and above a block, in any order", [] {
  // Keys ascend, descend or come at random; sizes go over kBlock and back many times.
  for (const int order : {0, 1, 2}) {
    Lists lists;
    BlockList list;
    std::map<std::uint32_t, std::uint32_t> truth;
    std::mt19937 dice(7);
    for (std::uint32_t step = 0; step < 6'000; ++step) {
      const bool grows = step / 1'000 % 2 == 0 ? dice() % 4 != 0 : dice() % 4 == 0;
      const std::uint32_t drawn = dice() % 5'000;
      const std::uint32_t key = order == 0 ? step : order == 1 ? 6'000 - step : drawn;
      if (grows && !truth.contains(key)) {
        lists.insert(list, {key, step});
        truth[key] = step;
      } else if (!truth.empty()) {
        const auto near = truth.lower_bound(drawn);
        const std::uint32_t gone = near == truth.end() ? truth.begin()->first : near->first;
        check(lists.find(list, gone)->value == truth[gone]);
        check(lists.erase(list, gone));
        check(!lists.erase(list, gone) && lists.find(list, gone) == nullptr);
        truth.erase(gone);
      }
      if (step % 97 == 0) check_same(lists, list, truth);
    }
    check_same(lists, list, truth);
    lists.release(list);
    check(list.size == 0);
  }
});

const Test kBorder("a block list of exactly one block grows by one and shrinks again", [] {
  Lists lists;
  BlockList list;
  for (std::uint32_t i = 0; i < Lists::kBlock; ++i) lists.insert(list, {2 * i, i});
  for (const std::uint32_t key : {0u, 1u, 63u, 127u, 200u}) {
    const bool was_there = lists.find(list, key) != nullptr;
    if (!was_there) lists.insert(list, {key, 9});
    lists.check(list);
    check(lists.find(list, key) != nullptr);
    if (!was_there) check(lists.erase(list, key));
    lists.check(list);
    check(list.size == Lists::kBlock);
  }
});

}  // namespace
}  // namespace nearcast::unit
