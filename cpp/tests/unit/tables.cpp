// SlotTable, TaggedTable, SlotHeap, VisitStamps and Claims.
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "nearcast/base/claims.h"
#include "nearcast/base/slot_heap.h"
#include "nearcast/base/slot_table.h"
#include "nearcast/base/visit_stamps.h"
#include "tests/unit/check.h"

namespace nearcast::unit {
namespace {

/// Numbers come and go, with hashes that spread, that all collide, or that lie at the ring's end.
template <typename Table>
void check_table(std::uint32_t hash_mask, std::uint32_t hash_base, std::uint32_t count) {
  Table table;
  const auto hash_of = [=](std::uint32_t number) {
    return hash_base + (number * 0x9E3779B9u & hash_mask);
  };
  std::vector<bool> is_there(count, false);
  std::size_t size = 0;
  std::mt19937 dice(3);
  const auto find = [&](std::uint32_t number) {
    return table.find(hash_of(number), [&](std::uint32_t found) { return found == number; });
  };
  for (std::uint32_t step = 0; step < 6 * count; ++step) {
    // The largest number is far beyond the first ones: cells must grow wider in between.
    const std::uint32_t number = dice() % (step < count ? count / 8 + 1 : count);
    if (!is_there[number]) {
      check(find(number) == Table::kNone);
      table.insert(hash_of(number), number, hash_of);
      ++size;
    } else if (dice() % 2 == 0) {
      check(table.erase(hash_of(number), number, hash_of));
      check(!table.erase(hash_of(number), number, hash_of));
      --size;
    } else {
      check(find(number) == number);
      continue;
    }
    is_there[number] = !is_there[number];
    check(table.size() == size);
  }
  for (std::uint32_t number = 0; number < count; ++number) {
    check(find(number) == (is_there[number] ? number : Table::kNone));
  }
  table.check_loaded(count, size, [&](std::uint32_t number) { return is_there[number]; }, hash_of);
}

const Test kTables("a table finds what is in it and nothing else, while it grows", [] {
  for (const std::uint32_t count : {1u, 15u, 16u, 17u, 1'000u, 20'000u}) {
    check_table<SlotTable>(0xFFFFFFFFu, 0, count);
    check_table<TaggedTable>(0xFFFFFFFFu, 0, count);
  }
});

const Test kCollisions("keys of one hash, or at the end of the ring, are told apart", [] {
  check_table<SlotTable>(0, 7, 200);
  check_table<TaggedTable>(0, 7, 200);
  check_table<SlotTable>(0xFF, 0xFFFFFF00u, 500);
  check_table<TaggedTable>(0xFF, 0xFFFFFF00u, 500);
});

const Test kReserve("a table that has room takes as many without growing", [] {
  TaggedTable table;
  const auto hash_of = [](std::uint32_t number) { return number * 0x9E3779B9u; };
  table.reserve(10'000, hash_of);
  const std::size_t bytes = table.memory_bytes();
  for (std::uint32_t i = 0; i < 10'000; ++i) table.insert(hash_of(i), i, hash_of);
  check(table.memory_bytes() == bytes);
});

const Test kHeap("a heap gives the least key first, of equal ones the lowest number", [] {
  SlotHeap heap;
  std::map<std::pair<double, std::uint64_t>, std::uint32_t> truth;
  std::vector<std::pair<double, std::uint64_t>> keys(300, {-1.0, 0});
  std::mt19937 dice(5);
  for (std::uint64_t step = 1; step < 30'000; ++step) {
    const std::uint32_t slot = dice() % 300;
    check(heap.has(slot) == (keys[slot].first >= 0));
    if (heap.has(slot)) {
      heap.erase(slot);
      truth.erase(keys[slot]);
      keys[slot].first = -1.0;
    } else {
      keys[slot] = {static_cast<double>(dice() % 20), step};
      heap.push({keys[slot].first, step, slot});
      truth[keys[slot]] = slot;
    }
    check(heap.size() == truth.size() && heap.empty() == truth.empty());
    if (!heap.empty()) check(heap.first().slot == truth.begin()->second);
  }
  check(!heap.has(1'000'000));
});

const Test kStamps("an id is new once per call, also when there are more ids than before", [] {
  VisitStamps stamps;
  for (std::size_t size = 1; size < 2'000; size = size * 3 / 2 + 1) {
    stamps.start(size);
    for (std::uint32_t id = 0; id < size; ++id) {
      check(!stamps.was_visited(id) && stamps.first_visit(id));
      check(stamps.was_visited(id) && !stamps.first_visit(id));
    }
  }
});

const Test kClaims("a place is claimed once, inside, and across words", [] {
  for (const std::uint64_t places : {1, 63, 64, 65, 130}) {
    Claims claims(places);
    claims.claim(0, places, "all");
    for (std::uint64_t i = 0; i < places; ++i) {
      check(claims.has(i));
      check_throws(ErrorKind::kSnapshot, [&] { claims.claim(i, "again"); });
    }
    check(!claims.has(places));
    check_throws(ErrorKind::kSnapshot, [&] { claims.claim(places, "outside"); });
    claims.claim(places, 0, "nothing, at the end");
  }
  Claims claims(200);
  claims.claim(60, 10, "over the border of a word");
  check(!claims.has(59) && claims.has(60) && claims.has(69) && !claims.has(70));
  check_throws(ErrorKind::kSnapshot, [&] { claims.claim(0, 61, "touches"); });
  check_throws(ErrorKind::kSnapshot, [&] { claims.claim(1, ~std::uint64_t{0}, "wraps"); });
  claims.claim_all(std::vector<int>{0, 59, 70, 199}, "each");
  check(claims.has(199));
});

}  // namespace
}  // namespace nearcast::unit
