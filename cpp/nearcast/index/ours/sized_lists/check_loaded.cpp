/// Are lists that were read from a file sound? Checked before anything follows their numbers.
///
/// Each clause of the store must be in exactly one list, that of one of its keywords, with the
/// cells of its area; then every change finds what it looks for.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "nearcast/base/claims.h"
#include "nearcast/index/ours/sized_lists/sized_lists.h"

namespace nearcast {
namespace sized_lists {
namespace {

constexpr const char* kList = "a list of the index";

bool is_same(const CellBox& a, const CellBox& b) {
  return a.west == b.west && a.east == b.east && a.south == b.south && a.north == b.north;
}

}  // namespace

void Axis::check_loaded(const Axis& fresh) const {
  constexpr const char* kAxis = "an axis of the index";
  expect(low_ == fresh.low_ && segments_per_unit_ == fresh.segments_per_unit_ && first_[0] == 0 &&
             first_[kSegments] == kLastCell + 1,
         kAxis);
  for (std::uint32_t i = 0; i < kSegments; ++i) expect(first_[i] < first_[i + 1], kAxis);
}

void Frame::check_loaded() const {
  const Frame fresh;
  lon_.check_loaded(fresh.lon_);
  lat_.check_loaded(fresh.lat_);
}

Claims SmallLists::claim_free() const {
  expect(units_.size() == (used_ == 0 && units_.empty() ? 0 : std::size_t{used_} + kPadding),
         kList);
  Claims claims(used_);
  expect(free_[0] == 0, kList);
  for (std::uint32_t capacity = 1; capacity < free_.size(); ++capacity) {
    for (std::uint32_t next = free_[capacity]; next != 0;) {
      claims.claim(next - 1, kUnits * capacity, kList);
      std::memcpy(&next, units_.data() + next - 1, sizeof(next));
    }
  }
  return claims;
}

void SmallLists::claim(Claims& claims, const Head& head) const {
  expect(head.capacity <= kSmallLimit && head.size <= head.capacity &&
             (head.capacity == 0 || head.size != 0),
         kList);
  if (head.capacity != 0) claims.claim(head.place, kUnits * head.capacity, kList);
}

/// What a heavy list is made of, each part with one owner.
struct HeavyLists::Parts {
  Claims lists, nodes, blocks;
};

HeavyLists::Parts HeavyLists::claim_free() const {
  expect(ranges_.size() == nodes_.size(), kList);
  Parts parts{Claims(lists_.size()), Claims(nodes_.size()), Claims(blocks_.size())};
  parts.lists.claim_all(free_lists_, kList);
  parts.nodes.claim_all(free_nodes_, kList);
  parts.blocks.claim_all(free_blocks_, kList);
  return parts;
}

void HeavyLists::claim_below(Parts& parts, std::uint32_t number, std::uint32_t level) const {
  parts.nodes.claim(number, kList);
  const Node& node = nodes_[number];
  expect(node.size >= 1 && node.size <= kFanOut, kList);
  for (std::uint32_t i = 0; i < node.size; ++i) {
    if (level > 1) {
      claim_below(parts, node.child[i], level - 1);
      continue;
    }
    parts.blocks.claim(node.child[i], kList);
  }
}

void HeavyLists::claim(Parts& parts, std::uint32_t number) const {
  constexpr std::uint32_t kMaxLevels = 16;  // more than 2³² entries would need
  parts.lists.claim(number, kList);
  const Heavy& list = lists_[number];
  expect(list.levels >= 1 && list.levels <= kMaxLevels, kList);
  claim_below(parts, list.root, list.levels);
  std::uint32_t entries = 0;
  try {
    check_below(list.root, list.levels, entries);  // sizes, gaps and boxes; its numbers are sound
  } catch (const Error& error) {
    expect(false, error.what());
  }
  expect(entries == list.size, kList);
}

void NumberedLists::check_loaded(std::uint64_t entries, std::span<const Head> others,
                                 const Visit& visit) const {
  Claims units = smalls_.claim_free();
  HeavyLists::Parts parts = heavies_.claim_free();
  std::vector<Entry> all;
  std::uint64_t found = 0;
  for (std::uint32_t list = 0; list < heads_.size() + others.size(); ++list) {
    const Head& head = list < heads_.size() ? heads_[list] : others[list - heads_.size()];
    all.clear();
    if (head.is_heavy()) {
      heavies_.claim(parts, head.place);
    } else {
      smalls_.claim(units, head);
    }
    collect(head, all);
    found += all.size();
    for (const Entry& entry : all) visit(list, entry);
  }
  expect(found == entries, kList);
}

}  // namespace sized_lists

namespace {

constexpr std::uint32_t kFurtherBit = 0x80000000u;  ///< of the entry of a further clause
bool is_further(EntryId entry) { return (raw(entry) & kFurtherBit) != 0; }

}  // namespace

void SizedLists::check_loaded() const {
  using sized_lists::kList;
  frame_.check_loaded();
  std::uint64_t entries = 0;
  Claims first(store_.slots()), further(store_.entry_slots() - store_.slots());
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      (is_further(entry) ? further : first).claim(raw(entry) & ~kFurtherBit, kList);
      const TokenSpan wanted = store_.clause(entry).positive;
      expect(wanted.empty() || raw(wanted.back()) < frequencies_.size(), kList);
    });
  });
  expect(entries == entries_, kList);
  ranges_.check_loaded();
  struct Key {
    std::uint32_t list;
    Token name;
  };
  std::vector<sized_lists::Head> heads;
  std::vector<Key> keys;
  std::map<std::uint32_t, std::uint32_t> filed;
  ranges_.for_each([&](std::uint32_t list, Token name, const sized_lists::Head& head) {
    heads.push_back(head);
    keys.push_back({list, name});
    filed[raw(name)];
  });
  Claims listed_first(store_.slots()), listed_further(store_.entry_slots() - store_.slots());
  const auto check = [&](std::uint32_t place, const sized_lists::Entry& entry) {
    const std::uint32_t number = raw(entry.id) & ~kFurtherBit;
    expect((is_further(entry.id) ? further : first).has(number), kList);
    (is_further(entry.id) ? listed_further : listed_first).claim(number, kList);
    const bool is_ranged = place >= lists_.size();
    const Key key = is_ranged ? keys[place - lists_.size()] : Key{place, kUnknownToken};
    if (is_ranged) ++filed[raw(key.name)];
    const TokenSpan wanted = store_.clause(entry.id).positive;
    expect(key.list == 0 ? wanted.empty()
                         : std::binary_search(wanted.begin(), wanted.end(), Token{key.list - 1}),
           kList);
    bool is_sound = false;
    for_each_plane(store_.owner(entry.id), [&](const Plane& plane) {
      if (plane.name != key.name) return;
      const sized_lists::Entry expected = entry_for(entry.id, kUnknownToken, plane);
      is_sound = sized_lists::is_same(entry.box, expected.box) &&
                 (entry.signature != sized_lists::kProven ||
                  (wanted.size() <= 1 && expected.signature == sized_lists::kProven));
    });
    expect(is_sound, kList);
  };
  lists_.check_loaded(entries, heads, check);
  for (const auto& [name, count] : filed) expect(ranges_.filed(Token{name}) == count, kList);
}

}  // namespace nearcast
