#include "nearcast/topk/arrival/bounded_lists/long_list.h"

#include <algorithm>
#include <limits>

#include "nearcast/base/change_steps.h"
#include "nearcast/base/errors.h"

namespace nearcast::bounded_lists {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::uint32_t key_of(const Entry& entry) { return sort_key(entry.cell, entry.shape); }

bool is_before(const Entry& a, const Entry& b) {
  const std::uint32_t key = key_of(a), other = key_of(b);
  return key != other ? key < other : a.id < b.id;
}

std::uint16_t sum_code(float sum) {
  const float code = std::ceil((sum + 1) * Bounds::kSumScale) + 1;
  return code >= Bounds::kUnbounded ? Bounds::kUnbounded
                                    : static_cast<std::uint16_t>(std::max(code, 0.0f));
}

std::uint16_t other_code(float other_text) {
  const float code = std::ceil(other_text * Bounds::kOtherScale);
  return code >= Bounds::kUnbounded ? Bounds::kUnbounded : static_cast<std::uint16_t>(code);
}

}  // namespace

std::uint32_t Block::size() const {
  std::uint32_t count = 0;
  while (count < kBlockSize && id[count] != kNone) ++count;
  return count;
}

void Block::put(std::uint32_t i, const Entry& entry) {
  cell[i] = entry.cell;
  shape[i] = entry.shape;
  slack[i] = entry.slack;
  prints[i] = entry.prints;
  other_text[i] = entry.other_text;
  id[i] = entry.id;
}

void Block::clear(std::uint32_t i) { put(i, {0, 0, kNever, 0, 0, kNone}); }

std::uint32_t LongLists::make(std::span<Entry> entries) {
  std::sort(entries.begin(), entries.end(), is_before);
  std::uint32_t number = static_cast<std::uint32_t>(lists_.size());
  if (free_lists_.empty()) {
    lists_.push_back({});
  } else {
    number = free_lists_.back();
    free_lists_.pop_back();
  }
  List& list = lists_[number];
  list = List{};
  list.size = static_cast<std::uint32_t>(entries.size());
  for (std::size_t first = 0; first < entries.size(); first += kBlockSize) {
    const std::size_t count = std::min<std::size_t>(kBlockSize, entries.size() - first);
    const std::uint32_t block = take_block();
    for (std::uint32_t i = 0; i < count; ++i) blocks_[block].put(i, entries[first + i]);
    insert_row(list, list.blocks, block, bounded_lists::key_of(entries[first]));
  }
  return number;
}

void LongLists::free(std::uint32_t number) {
  List& list = lists_[number];
  for (std::uint32_t row = 0; row < list.blocks; ++row) free_blocks_.push_back(block_of(list, row));
  groups_.release(list.groups);
  list = List{};
  free_lists_.push_back(number);
}

/// Does the row begin after this key and id? Only rows that begin with the same key are looked
/// into.
bool LongLists::begins_after(const List& list, std::uint32_t row, std::uint32_t key,
                             SubscriptionId id) const {
  count_change_steps(1);
  if (key_of(list, row) != key) return key_of(list, row) > key;
  const Block& block = blocks_[block_of(list, row)];
  for (std::uint32_t i = 0; i < block.size(); ++i) {
    if (sort_key(block.cell[i], block.shape[i]) == key && block.id[i] <= id) return false;
  }
  return true;
}

/// The row where an entry with this key and id is, or belongs.
std::uint32_t LongLists::row_for(const List& list, std::uint32_t key, SubscriptionId id) const {
  std::uint32_t low = 0, high = list.blocks;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (begins_after(list, middle, key, id)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low == 0 ? 0 : low - 1;
}

bool LongLists::find(const List& list, const Entry& entry, Place& place) const {
  place.row = row_for(list, bounded_lists::key_of(entry), entry.id);
  if (place.row >= list.blocks) return false;
  const Block& block = blocks_[block_of(list, place.row)];
  for (place.slot = 0; place.slot < kBlockSize; ++place.slot) {
    if (block.id[place.slot] == entry.id) return true;
  }
  return false;
}

void LongLists::add(std::uint32_t number, const Entry& entry) {
  List& list = lists_[number];
  const std::uint32_t key = bounded_lists::key_of(entry);
  const std::uint32_t row = row_for(list, key, entry.id);
  ++list.size;
  Block& block = blocks_[block_of(list, row)];
  const std::uint32_t size = block.size();
  if (size == kBlockSize) {
    split(list, row, entry);
    return;
  }
  block.put(size, entry);
  std::uint32_t& first = group_of(list, row).first_key[row % 8];
  first = std::min(first, key);
  set_bounds(list, row);
}

bool LongLists::remove(std::uint32_t number, const Entry& entry) {
  List& list = lists_[number];
  Place place{};
  if (!find(list, entry, place)) return false;
  --list.size;
  Block& block = blocks_[block_of(list, place.row)];
  const std::uint32_t last = block.size() - 1;
  block.put(place.slot, block.entry(last));
  block.clear(last);
  if (last == 0) {
    if (list.blocks > 1)
      remove_row(list, place.row);
    else
      set_bounds(list, place.row);
    return true;
  }
  set_bounds(list, place.row);
  if (last > 2) return true;
  if (place.row + 1 < list.blocks && join(list, place.row, place.row + 1)) return true;
  if (place.row > 0) join(list, place.row - 1, place.row);
  return true;
}

bool LongLists::set_slack(std::uint32_t number, const Entry& entry) {
  List& list = lists_[number];
  Place place{};
  if (!find(list, entry, place)) return false;
  blocks_[block_of(list, place.row)].slack[place.slot] = entry.slack;
  set_bounds(list, place.row);
  return true;
}

void LongLists::collect(std::uint32_t number, std::vector<Entry>& out) const {
  const List& list = lists_[number];
  for (std::uint32_t row = 0; row < list.blocks; ++row) {
    const Block& block = blocks_[block_of(list, row)];
    for (std::uint32_t i = 0; i < block.size(); ++i) out.push_back(block.entry(i));
  }
}

std::uint32_t LongLists::take_block() {
  std::uint32_t number = static_cast<std::uint32_t>(blocks_.size());
  if (free_blocks_.empty()) {
    blocks_.push_back({});
  } else {
    number = free_blocks_.back();
    free_blocks_.pop_back();
  }
  for (std::uint32_t i = 0; i < kBlockSize; ++i) blocks_[number].clear(i);
  return number;
}

void LongLists::split(List& list, std::uint32_t row, const Entry& entry) {
  Entry all[kBlockSize + 1];
  Block& left = blocks_[block_of(list, row)];
  for (std::uint32_t i = 0; i < kBlockSize; ++i) all[i] = left.entry(i);
  all[kBlockSize] = entry;
  std::sort(all, all + kBlockSize + 1, is_before);
  constexpr std::uint32_t kLeft = (kBlockSize + 1) / 2;
  const std::uint32_t right = take_block();  // may move blocks_
  Block& kept = blocks_[block_of(list, row)];
  for (std::uint32_t i = 0; i < kBlockSize; ++i) kept.clear(i);
  for (std::uint32_t i = 0; i < kLeft; ++i) kept.put(i, all[i]);
  for (std::uint32_t i = kLeft; i <= kBlockSize; ++i) blocks_[right].put(i - kLeft, all[i]);
  std::uint32_t& first = group_of(list, row).first_key[row % 8];
  first = std::min(first, bounded_lists::key_of(all[0]));
  set_bounds(list, row);
  insert_row(list, row + 1, right, bounded_lists::key_of(all[kLeft]));
}

/// Moves what row `from` holds into the row before it, if there is room with some to spare.
bool LongLists::join(List& list, std::uint32_t row, std::uint32_t from) {
  Block& target = blocks_[block_of(list, row)];
  const Block& source = blocks_[block_of(list, from)];
  const std::uint32_t size = target.size(), more = source.size();
  if (size + more > kBlockSize - 2) return false;
  for (std::uint32_t i = 0; i < more; ++i) target.put(size + i, source.entry(i));
  set_bounds(list, row);
  remove_row(list, from);
  return true;
}

void LongLists::insert_row(List& list, std::uint32_t row, std::uint32_t block, std::uint32_t key) {
  if (list.blocks % 8 == 0) groups_.push_back(list.groups, Group{});
  ++list.blocks;
  count_change_steps((list.blocks - row) / 8 + 1);  // groups
  for (std::uint32_t to = list.blocks - 1; to > row; --to) {
    Group& target = group_of(list, to);
    const Group& source = group_of(list, to - 1);
    target.block[to % 8] = source.block[(to - 1) % 8];
    target.first_key[to % 8] = source.first_key[(to - 1) % 8];
    // Bounds are columns of 16 bits, one after the other.
    auto* fields = reinterpret_cast<std::uint16_t (*)[8]>(&target.bounds);
    const auto* old = reinterpret_cast<const std::uint16_t (*)[8]>(&source.bounds);
    for (std::size_t field = 0; field < sizeof(Bounds) / sizeof(*fields); ++field) {
      fields[field][to % 8] = old[field][(to - 1) % 8];
    }
  }
  group_of(list, row).block[row % 8] = block;
  group_of(list, row).first_key[row % 8] = key;
  set_bounds(list, row);
}

void LongLists::remove_row(List& list, std::uint32_t row) {
  free_blocks_.push_back(block_of(list, row));
  --list.blocks;
  count_change_steps((list.blocks - row) / 8 + 1);  // groups
  for (std::uint32_t to = row; to < list.blocks; ++to) {
    Group& target = group_of(list, to);
    const Group& source = group_of(list, to + 1);
    target.block[to % 8] = source.block[(to + 1) % 8];
    target.first_key[to % 8] = source.first_key[(to + 1) % 8];
    auto* fields = reinterpret_cast<std::uint16_t (*)[8]>(&target.bounds);
    const auto* old = reinterpret_cast<const std::uint16_t (*)[8]>(&source.bounds);
    for (std::size_t field = 0; field < sizeof(Bounds) / sizeof(*fields); ++field) {
      fields[field][to % 8] = old[field][(to + 1) % 8];
    }
  }
  // The place behind the last row: nothing passes it.
  Bounds& bounds = group_of(list, list.blocks).bounds;
  const std::uint32_t lane = list.blocks % 8;
  bounds.alpha[lane] = bounds.other_text[lane] = 0;
  for (auto& sum : bounds.sum) sum[lane] = 0;
  if (lane == 0) groups_.resize(list.groups, list.blocks / 8);
}

void LongLists::set_bounds(List& list, std::uint32_t row) {
  const Block& block = blocks_[block_of(list, row)];
  std::uint16_t west = 0xFFFF, east = 0, south = 0xFFFF, north = 0, alpha = 0xFFFF;
  float sums[3] = {kNever, kNever, kNever}, other_text = 0;
  const std::uint32_t size = block.size();
  for (std::uint32_t i = 0; i < size; ++i) {
    const auto x = static_cast<std::uint16_t>(block.cell[i]);
    const auto y = static_cast<std::uint16_t>(block.cell[i] >> 16);
    west = std::min(west, x);
    east = std::max(east, x);
    south = std::min(south, y);
    north = std::max(north, y);
    alpha = std::min(alpha, static_cast<std::uint16_t>(block.shape[i] >> 16));
    other_text = std::max(other_text, block.other_text[i]);
    for (int which = 0; which < 3; ++which) {
      const float sum = block.slack[i] + text_in(block.shape[i]) * Bounds::kTokenWeights[which];
      sums[which] = std::max(sums[which], sum);
    }
  }
  Bounds& bounds = group_of(list, row).bounds;
  const std::uint32_t lane = row % 8;
  bounds.west[lane] = west;
  bounds.east[lane] = east;
  bounds.south[lane] = south;
  bounds.north[lane] = north;
  bounds.alpha[lane] = alpha;
  bounds.other_text[lane] = other_code(other_text);
  for (int which = 0; which < 3; ++which) bounds.sum[which][lane] = sum_code(sums[which]);
}

std::size_t LongLists::memory_bytes() const {
  return lists_.memory_bytes() + free_lists_.memory_bytes() + free_blocks_.memory_bytes() +
         blocks_.memory_bytes() + groups_.memory_bytes();
}

void LongLists::check(std::uint32_t number) const {
  const List& list = lists_[number];
  std::uint32_t entries = 0, last_key = 0;
  for (std::uint32_t row = 0; row < list.blocks; ++row) {
    ensure(key_of(list, row) >= last_key, "bounded-lists: blocks are out of order");
    last_key = key_of(list, row);
    const Block& block = blocks_[block_of(list, row)];
    entries += block.size();
    for (std::uint32_t i = 0; i < block.size(); ++i) {
      const std::uint32_t key = bounded_lists::key_of(block.entry(i));
      ensure(key >= last_key, "bounded-lists: an entry is before its block");
      ensure(row + 1 == list.blocks || key <= key_of(list, row + 1),
             "bounded-lists: an entry is behind its block");
      Place place{};
      ensure(find(list, block.entry(i), place) && place.row == row,
             "bounded-lists: an entry is not found in its block");
    }
  }
  ensure(entries == list.size, "bounded-lists: a list has miscounted its entries");
}

}  // namespace nearcast::bounded_lists
