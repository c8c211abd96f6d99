#include "nearcast/index/ours/sized_lists/heavy_lists.h"

#include <algorithm>
#include <cstring>

#include "nearcast/base/bounded_array.h"
#include "nearcast/base/change_steps.h"
#include "nearcast/base/errors.h"
#include "nearcast/index/ours/sized_lists/tile.h"

namespace nearcast::sized_lists {
namespace {

constexpr std::uint32_t kMergeBlock = 12, kMergeNode = 10;  ///< at most this many are worth moving
constexpr std::uint32_t kRoomyBlock = 28,
                        kRoomyNode = 28;  ///< a merged one keeps room for some more
constexpr CellBox kNothing{kEmptyLow, kEmptyHigh, kEmptyLow, kEmptyHigh};

template <typename T>
std::uint32_t take(Array<T>& items, Array<std::uint32_t>& free) {
  if (free.empty()) {
    items.resize(items.size() + 1);
    return static_cast<std::uint32_t>(items.size() - 1);
  }
  const std::uint32_t number = free.back();
  free.pop_back();
  return number;
}

CellBox join(const CellBox& a, const CellBox& b) {
  return {std::min(a.west, b.west), std::max(a.east, b.east), std::min(a.south, b.south),
          std::max(a.north, b.north)};
}

bool holds(const CellBox& outer, const CellBox& inner) {
  return outer.west <= inner.west && inner.east <= outer.east && outer.south <= inner.south &&
         inner.north <= outer.north;
}

std::uint64_t area(const CellBox& box) {
  return std::uint64_t{box.east - box.west + 1u} * (box.north - box.south + 1u);
}

/// How much must the box grow to hold one more? If two grow equally, the smaller one is taken.
std::pair<std::uint64_t, std::uint64_t> growth(const CellBox& box, const CellBox& more) {
  return {area(join(box, more)) - area(box), area(box)};
}

struct Child {
  std::uint32_t number;
  CellBox box;
  IdRange ids;
};

const CellBox& box_of(const Entry& entry) { return entry.box; }
const CellBox& box_of(const Child& child) { return child.box; }

std::uint32_t first_id(const Entry& entry) { return raw(entry.id); }
std::uint32_t first_id(const Child& child) { return child.ids.low; }

// Where centres are equal, numbers decide, so that equal boxes have an order.
template <typename Item>
std::uint64_t x_of(const Item& item) {
  return std::uint64_t{center_x(box_of(item))} << 32 | first_id(item);
}
template <typename Item>
std::uint64_t y_of(const Item& item) {
  return std::uint64_t{center_y(box_of(item))} << 32 | first_id(item);
}

template <typename Item>
void sort_along(std::span<Item> items, bool by_x) {
  std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    return by_x ? x_of(a) < x_of(b) : y_of(a) < y_of(b);
  });
}

/// Along which axis do the centres spread more?
template <typename Item>
bool spreads_along_x(std::span<const Item> items) {
  std::uint32_t low_x = ~0u, high_x = 0, low_y = ~0u, high_y = 0;
  for (const Item& item : items) {
    low_x = std::min(low_x, center_x(box_of(item)));
    high_x = std::max(high_x, center_x(box_of(item)));
    low_y = std::min(low_y, center_y(box_of(item)));
    high_y = std::max(high_y, center_y(box_of(item)));
  }
  return high_x - low_x >= high_y - low_y;
}

}  // namespace

void Block::clear(std::uint32_t i) { put(i, {kNothing, kAsk, EntryId{0}}); }

std::uint32_t Block::size() const {
  std::uint32_t size = 0;
  while (size < kBlockSize && bytes[size] != kEmptyLow >> 8) ++size;
  return size;
}

std::uint32_t Block::find(EntryId id) const {
  const std::uint32_t all = size();
  std::uint32_t i = 0;
  while (i < all && record().id(i) != id) ++i;
  return i;
}

IdRange Block::ids() const {
  IdRange range;
  for (std::uint32_t i = 0; i < size(); ++i) range.add(record().id(i));
  return range;
}

CellBox Block::box() const {
  const std::uint8_t *west = bytes, *east = west + kBlockSize, *south = east + kBlockSize,
                     *north = south + kBlockSize;
  std::uint8_t box[] = {255, 0, 255, 0};
  for (std::uint32_t i = 0; i < kBlockSize; ++i) {
    box[0] = std::min(box[0], west[i]);
    box[1] = std::max(box[1], east[i]);
    box[2] = std::min(box[2], south[i]);
    box[3] = std::max(box[3], north[i]);
  }
  return {static_cast<Cell>(box[0] << 8), static_cast<Cell>(box[1] << 8 | 255),
          static_cast<Cell>(box[2] << 8), static_cast<Cell>(box[3] << 8 | 255)};
}

void Node::clear() {
  std::memset(this, 0, sizeof(*this));
  std::memset(west, 255, sizeof(west));
  std::memset(south, 255, sizeof(south));
}

void Node::put(std::uint32_t i, std::uint32_t number, const CellBox& box) {
  child[i] = number;
  west[i] = static_cast<std::uint8_t>(box.west >> 8);
  east[i] = static_cast<std::uint8_t>(box.east >> 8);
  south[i] = static_cast<std::uint8_t>(box.south >> 8);
  north[i] = static_cast<std::uint8_t>(box.north >> 8);
}

void Node::remove(std::uint32_t i) {
  --size;
  if (i != size) put(i, child[size], box(size));
  put(size, 0, kNothing);
}

CellBox Node::box(std::uint32_t i) const {
  return {static_cast<Cell>(west[i] << 8), static_cast<Cell>(east[i] << 8 | 255),
          static_cast<Cell>(south[i] << 8), static_cast<Cell>(north[i] << 8 | 255)};
}

CellBox Node::box() const {
  CellBox all = kNothing;
  for (std::uint32_t i = 0; i < size; ++i) all = join(all, box(i));
  return all;
}

// ---- building ---------------------------------------------------------------------------------

std::uint32_t HeavyLists::make(std::span<Entry> entries) {
  Heavy made{0, 0, static_cast<std::uint32_t>(entries.size())};
  made.root = pack(entries, made.levels);
  const std::uint32_t number = take(lists_, free_lists_);
  lists_[number] = made;
  return number;
}

std::uint32_t HeavyLists::pack(std::span<Entry> entries, std::uint32_t& levels) {
  std::vector<Child> below, above;
  tile(entries, kBlockSize, x_of<Entry>, y_of<Entry>, [&](std::span<const Entry> run) {
    const std::uint32_t number = take(blocks_, free_blocks_);
    for (std::uint32_t i = 0; i < kBlockSize; ++i) {
      i < run.size() ? blocks_[number].put(i, run[i]) : blocks_[number].clear(i);
    }
    below.push_back({number, blocks_[number].box(), blocks_[number].ids()});
  });
  levels = 0;
  do {
    above.clear();
    // A few places stay free, so that the first inserts do not split every node.
    tile(std::span(below), below.size() <= kFanOut ? kFanOut : kRoomyNode, x_of<Child>, y_of<Child>,
         [&](std::span<const Child> run) {
           const std::uint32_t number = take_node();
           Node& node = nodes_[number];
           node.size = static_cast<std::uint32_t>(run.size());
           for (std::uint32_t i = 0; i < run.size(); ++i) {
             node.put(i, run[i].number, run[i].box);
             ranges_[number].add(run[i].ids);
           }
           above.push_back({number, node.box(), ranges_[number]});
         });
    below.swap(above);
    ++levels;
  } while (below.size() > 1);
  return below.front().number;
}

std::uint32_t HeavyLists::take_node() {
  const std::uint32_t number = take(nodes_, free_nodes_);
  ranges_.resize(nodes_.size());
  nodes_[number].clear();
  ranges_[number] = {};
  return number;
}

IdRange HeavyLists::ids_below(std::uint32_t node, std::uint32_t level) const {
  IdRange range;
  for (std::uint32_t i = 0; i < nodes_[node].size; ++i)
    range.add(ids_of_child(nodes_[node].child[i], level));
  count_change_steps(nodes_[node].size);
  return range;
}

void HeavyLists::free(std::uint32_t number) {
  free_below(lists_[number].root, lists_[number].levels);
  free_lists_.push_back(number);
}

void HeavyLists::free_below(std::uint32_t node, std::uint32_t level) {
  for (std::uint32_t i = 0; i < nodes_[node].size; ++i) {
    if (level == 1) {
      free_blocks_.push_back(nodes_[node].child[i]);
    } else {
      free_below(nodes_[node].child[i], level - 1);
    }
  }
  free_nodes_.push_back(node);
}

// ---- inserting --------------------------------------------------------------------------------

void HeavyLists::insert(std::uint32_t number, const Entry& entry) {
  Heavy list = lists_[number];
  const Outcome outcome = insert_below(list.root, list.levels, entry);
  if (outcome.sibling != kNone) {
    const std::uint32_t root = take_node();
    Node& node = nodes_[root];
    node.size = 2;
    node.put(0, list.root, outcome.box);
    node.put(1, outcome.sibling, outcome.sibling_box);
    ranges_[root].add(ranges_[list.root]);
    ranges_[root].add(ranges_[outcome.sibling]);
    list.root = root;
    ++list.levels;
  }
  ++list.size;
  lists_[number] = list;
}

std::uint32_t HeavyLists::best_child(std::uint32_t node, std::uint32_t level,
                                     const Entry& entry) const {
  const Node& parent = nodes_[node];
  const auto gap = [&](std::uint32_t i) {
    return ids_of_child(parent.child[i], level).gap(entry.id);
  };
  std::uint32_t best = 0;
  auto least = growth(parent.box(0), entry.box);
  std::uint32_t least_gap = ~0u;  // of the best child; computed only if it is needed
  for (std::uint32_t i = 1; i < parent.size; ++i) {
    const auto cost = growth(parent.box(i), entry.box);
    if (cost < least) {
      least = cost, best = i, least_gap = ~0u;
    } else if (cost == least) {
      if (least_gap == ~0u) least_gap = gap(best);
      if (const std::uint32_t other = gap(i); other < least_gap) best = i, least_gap = other;
    }
  }
  count_change_steps(parent.size);
  return best;
}

HeavyLists::Outcome HeavyLists::insert_below(std::uint32_t node, std::uint32_t level,
                                             const Entry& entry) {
  const std::uint32_t best = best_child(node, level, entry);
  ranges_[node].add(entry.id);
  const std::uint32_t child = nodes_[node].child[best];
  const Outcome below =
      level == 1 ? insert_in_block(child, entry) : insert_below(child, level - 1, entry);
  nodes_[node].put(best, child, below.box);
  if (below.sibling == kNone) return {nodes_[node].box()};
  return add_child(node, level, below.sibling, below.sibling_box);
}

HeavyLists::Outcome HeavyLists::insert_in_block(std::uint32_t block, const Entry& entry) {
  const std::uint32_t size = blocks_[block].size();
  if (size < kBlockSize) {
    blocks_[block].put(size, entry);
    return {blocks_[block].box()};
  }
  BoundedArray<Entry, kBlockSize + 1> all;
  for (std::uint32_t i = 0; i < kBlockSize; ++i) all.push_back(blocks_[block].entry(i));
  all.push_back(entry);
  sort_along(all.view(), spreads_along_x(std::span<const Entry>(all.view())));
  const std::uint32_t sibling = take(blocks_, free_blocks_);
  constexpr std::uint32_t kHalf = (kBlockSize + 1) / 2;
  for (std::uint32_t i = 0; i < kBlockSize; ++i) {
    i < kHalf ? blocks_[block].put(i, all[i]) : blocks_[block].clear(i);
    i <= kHalf ? blocks_[sibling].put(i, all[kHalf + i]) : blocks_[sibling].clear(i);
  }
  return {blocks_[block].box(), sibling, blocks_[sibling].box()};
}

HeavyLists::Outcome HeavyLists::add_child(std::uint32_t node, std::uint32_t level,
                                          std::uint32_t child, const CellBox& box) {
  if (nodes_[node].size < kFanOut) {
    nodes_[node].put(nodes_[node].size++, child, box);
    return {nodes_[node].box()};
  }
  BoundedArray<Child, kFanOut + 1> all;
  for (std::uint32_t i = 0; i < kFanOut; ++i) {
    const std::uint32_t number = nodes_[node].child[i];
    all.push_back({number, nodes_[node].box(i), ids_of_child(number, level)});
  }
  all.push_back({child, box, ids_of_child(child, level)});
  sort_along(all.view(), spreads_along_x(std::span<const Child>(all.view())));
  const std::uint32_t sibling = take_node();
  constexpr std::uint32_t kHalf = (kFanOut + 1) / 2;
  nodes_[node].clear();
  ranges_[node] = {};
  nodes_[sibling].size = nodes_[node].size = kHalf;
  for (std::uint32_t i = 0; i < kHalf; ++i) {
    nodes_[node].put(i, all[i].number, all[i].box);
    nodes_[sibling].put(i, all[kHalf + i].number, all[kHalf + i].box);
    ranges_[node].add(all[i].ids);
    ranges_[sibling].add(all[kHalf + i].ids);
  }
  return {nodes_[node].box(), sibling, nodes_[sibling].box()};
}

// ---- erasing ----------------------------------------------------------------------------------

bool HeavyLists::erase(std::uint32_t number, const Entry& entry) {
  bool found = false;
  erase_below(lists_[number].root, lists_[number].levels, entry, found);
  if (!found) return false;
  Heavy& list = lists_[number];
  --list.size;
  while (list.levels > 1 && nodes_[list.root].size == 1) {
    const std::uint32_t only = nodes_[list.root].child[0];
    free_nodes_.push_back(list.root);
    list.root = only;
    --list.levels;
  }
  return true;
}

CellBox HeavyLists::erase_below(std::uint32_t node, std::uint32_t level, const Entry& entry,
                                bool& found) {
  for (std::uint32_t i = 0; i < nodes_[node].size && !found; ++i) {
    if (!holds(nodes_[node].box(i), entry.box)) continue;
    const std::uint32_t child = nodes_[node].child[i];
    count_change_steps(1);
    if (level == 1) {
      found = erase_in_block(node, i, entry);
    } else if (ranges_[child].has(entry.id)) {
      const CellBox box = erase_below(child, level - 1, entry, found);
      if (found) nodes_[node].put(i, child, box);
    }
    if (found) drop_or_merge(node, i, level);
  }
  if (!found) return {};
  const IdRange& ids = ranges_[node];
  if (raw(entry.id) == ids.low || raw(entry.id) == ids.high) ranges_[node] = ids_below(node, level);
  return nodes_[node].box();
}

bool HeavyLists::erase_in_block(std::uint32_t node, std::uint32_t i, const Entry& entry) {
  const std::uint32_t number = nodes_[node].child[i];
  Block& block = blocks_[number];
  const std::uint32_t size = block.size();
  const std::uint32_t at = block.find(entry.id);
  if (at == size) return false;
  block.put(at, block.entry(size - 1));
  block.clear(size - 1);
  nodes_[node].put(i, number, block.box());
  return true;
}

void HeavyLists::drop_or_merge(std::uint32_t node, std::uint32_t i, std::uint32_t level) {
  Node& parent = nodes_[node];
  const std::uint32_t from = parent.child[i];
  const auto size_of = [&](std::uint32_t child) {
    return level == 1 ? blocks_[child].size() : nodes_[child].size;
  };
  const std::uint32_t size = size_of(from);
  if (size > (level == 1 ? kMergeBlock : kMergeNode)) return;
  if (size != 0) {
    std::uint32_t best = kNone, least_gap = 0;
    std::pair<std::uint64_t, std::uint64_t> least{};
    const IdRange own = ids_of_child(from, level);
    for (std::uint32_t j = 0; j < parent.size; ++j) {
      if (j == i || size_of(parent.child[j]) + size > (level == 1 ? kRoomyBlock : kRoomyNode))
        continue;
      const auto cost = growth(parent.box(j), parent.box(i));
      if (best != kNone && least < cost) continue;
      const std::uint32_t gap = ids_of_child(parent.child[j], level).gap(own);
      if (best != kNone && cost == least && gap >= least_gap) continue;
      least = cost, best = j, least_gap = gap;
    }
    count_change_steps(parent.size);
    if (best == kNone) return;
    merge(parent.child[best], from, level);
    parent.put(best, parent.child[best],
               level == 1 ? blocks_[parent.child[best]].box() : nodes_[parent.child[best]].box());
  }
  (level == 1 ? free_blocks_ : free_nodes_).push_back(from);
  parent.remove(i);
}

void HeavyLists::merge(std::uint32_t into, std::uint32_t from, std::uint32_t level) {
  if (level == 1) {
    const std::uint32_t start = blocks_[into].size(), count = blocks_[from].size();
    for (std::uint32_t i = 0; i < count; ++i) blocks_[into].put(start + i, blocks_[from].entry(i));
  } else {
    for (std::uint32_t i = 0; i < nodes_[from].size; ++i) {
      nodes_[into].put(nodes_[into].size++, nodes_[from].child[i], nodes_[from].box(i));
    }
    ranges_[into].add(ranges_[from]);
  }
}

// ---- reading ----------------------------------------------------------------------------------

template <typename Visit>
bool HeavyLists::visit_blocks(std::uint32_t node, std::uint32_t level, const Entry* wanted,
                              Visit&& visit) const {
  for (std::uint32_t i = 0; i < nodes_[node].size; ++i) {
    const std::uint32_t child = nodes_[node].child[i];
    if (wanted != nullptr && !holds(nodes_[node].box(i), wanted->box)) continue;
    if (wanted != nullptr && level > 1 && !ranges_[child].has(wanted->id)) continue;
    if (level == 1 ? visit(blocks_[child]) : visit_blocks(child, level - 1, wanted, visit))
      return true;
  }
  return false;
}

bool HeavyLists::has(std::uint32_t number, const Entry& entry) const {
  return visit_blocks(lists_[number].root, lists_[number].levels, &entry,
                      [&](const Block& block) { return block.find(entry.id) != block.size(); });
}

void HeavyLists::collect(std::uint32_t number, std::vector<Entry>& out) const {
  visit_blocks(lists_[number].root, lists_[number].levels, nullptr, [&](const Block& block) {
    for (std::uint32_t i = 0; i < block.size(); ++i) out.push_back(block.entry(i));
    return false;
  });
}

void HeavyLists::check(std::uint32_t number) const {
  std::uint32_t entries = 0;
  check_below(lists_[number].root, lists_[number].levels, entries);
  ensure(entries == lists_[number].size,
         "sized-lists: a heavy list has another number of entries than it says");
}

CellBox HeavyLists::check_below(std::uint32_t node, std::uint32_t level,
                                std::uint32_t& entries) const {
  const Node& here = nodes_[node];
  ensure(ranges_[node] == ids_below(node, level),
         "sized-lists: a node is wrong about the ids below it");
  ensure(here.size >= 1 && here.size <= kFanOut,
         "sized-lists: a node of a heavy list is empty or too full");
  for (std::uint32_t i = 0; i < 32; ++i) {
    if (i >= here.size) {
      ensure(here.west[i] == 255 && here.east[i] == 0,
             "sized-lists: an unused place of a node could match");
      continue;
    }
    CellBox below{};
    if (level == 1) {
      const Block& block = blocks_[here.child[i]];
      const std::uint32_t size = block.size();
      ensure(size >= 1, "sized-lists: an empty block was left in a heavy list");
      for (std::uint32_t at = size; at < kBlockSize; ++at) {
        ensure(block.bytes[at] == kEmptyLow >> 8, "sized-lists: a block has a gap");
      }
      entries += size;
      below = block.box();
    } else {
      below = check_below(here.child[i], level - 1, entries);
    }
    ensure(here.west[i] == below.west >> 8 && here.east[i] == below.east >> 8 &&
               here.south[i] == below.south >> 8 && here.north[i] == below.north >> 8,
           "sized-lists: a node's box is not the union of what lies below it");
  }
  return here.box();
}

std::size_t HeavyLists::memory_bytes() const {
  return lists_.memory_bytes() + nodes_.memory_bytes() + ranges_.memory_bytes() +
         blocks_.memory_bytes() + free_lists_.memory_bytes() + free_nodes_.memory_bytes() +
         free_blocks_.memory_bytes();
}

void HeavyLists::save(ArchiveWriter& out) const {
  lists_.save(out);
  nodes_.save(out);
  ranges_.save(out);
  blocks_.save(out);
  free_lists_.save(out);
  free_nodes_.save(out);
  free_blocks_.save(out);
}

void HeavyLists::load(ArchiveReader& in) {
  lists_.load(in);
  nodes_.load(in);
  ranges_.load(in);
  blocks_.load(in);
  free_lists_.load(in);
  free_nodes_.load(in);
  free_blocks_.load(in);
}

}  // namespace nearcast::sized_lists
