#include "nearcast/index/papers/pt_quadtree/pivot_cells.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

/// The deepest level of the quadtree of the world on which the box touches at most `most` cells.
std::uint32_t level_of(const Rect& box, std::uint64_t most) {
  const double columns = 1 << kDeepestLevel;
  const auto cell = [&](double part) {
    return static_cast<std::uint64_t>(std::clamp(part * columns, 0.0, columns - 1));
  };
  const std::uint64_t west = cell((box.west + 180) / 360), east = cell((box.east + 180) / 360);
  const std::uint64_t south = cell((box.south + 90) / 180), north = cell((box.north + 90) / 180);
  for (std::uint32_t up = 0; up < kDeepestLevel; ++up) {
    const std::uint64_t across = (east >> up) - (west >> up) + 1;
    const std::uint64_t along = (north >> up) - (south >> up) + 1;
    if (across * along <= most) return kDeepestLevel - up;
  }
  return 0;
}

/// Which child of its parent is the cell? Cells lie on a grid whose lines are exact in binary.
std::uint8_t bit_of(const QuadCell& cell) {
  const auto column = static_cast<std::uint64_t>((cell.lon + 180) / (2 * cell.half_width));
  const auto row = static_cast<std::uint64_t>((cell.lat + 90) / (2 * cell.half_height));
  return static_cast<std::uint8_t>(1u << ((column & 1) | (row & 1) << 1));
}

}  // namespace

PivotCells::Item PivotCells::item_of(EntryId entry) const {
  const Rect& box = store_.bounds(store_.owner(entry));
  return {entry, level_of(box, options_.max_copies), box};
}

bool PivotCells::has_with(QuadNodeId node, PivotKey key) const {
  bool found = false;
  items_.for_each_block_from(slot(node).items, std::uint64_t{key} << 32,
                             [&](std::span<const PivotItem> rest) {
                               found = rest.front().key == key;
                               return false;
                             });
  return found;
}

std::size_t PivotCells::count_with(QuadNodeId node, PivotKey key) const {
  std::size_t count = 0;
  items_.for_each_block_from(slot(node).items, std::uint64_t{key} << 32,
                             [&](std::span<const PivotItem> rest) {
                               for (const PivotItem& each : rest) {
                                 if (each.key != key || count == kEnough) return false;
                                 ++count;
                               }
                               return true;
                             });
  return count;
}

PivotCells::Keys PivotCells::keys_of(QuadNodeId node) const {
  Keys keys;
  for_each_item(node, [&](const PivotItem& item) {
    if (keys.empty() || keys.back() != item.key) keys.push_back(item.key);
  });
  return keys;
}

/// A pivot that the cell has already, the most used one first: then no mark has to be added.
PivotKey PivotCells::pivot_in(QuadNodeId node, TokenSpan tokens) const {
  PivotKey best = choose_pivot(tokens, counts_, rule_in(node));
  if (rule_in(node) == PivotRule::kRare) return best;
  std::size_t most = 0;
  for (const Token token : tokens) {
    const std::size_t users = count_with(node, pivot_key(token));
    if (users <= most) continue;
    most = users;
    best = pivot_key(token);
  }
  return best;
}

void PivotCells::add_leaves(QuadNodeId node, std::uint32_t more) {
  for (; node != kNoQuadNode; node = slot(node).parent) slot(node).leaves += more;
}

void PivotCells::created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell) {
  if (slots_.size() <= raw(node)) slots_.resize(raw(node) + 1);
  slot(node) = Slot{};
  slot(node).parent = parent;
  if (parent != kNoQuadNode) {
    slot(node).depth = static_cast<std::uint16_t>(slot(parent).depth + 1);
    slot(node).bit = bit_of(cell);
  }
  add_leaves(node, 1);
}

void PivotCells::freed(QuadNodeId node) {
  if (slot(node).is_divided) {
    --inner_cells_;
  } else {
    add_leaves(node, ~0u);
  }
  drop_marks(node);
}

void PivotCells::attach(QuadNodeId node, const Item& item) {
  PivotItem made{0, labels_.label(item.entry), float_box(item.box)};
  if (is_bulk_) return items_.insert(slot(node).items, made);
  made.key = pivot_in(node, store_.clause(item.entry).positive);
  const bool is_new = !has_with(node, made.key);
  items_.insert(slot(node).items, made);
  if (is_new) gain(node, made.key);
}

/// The entry's item in a cell, or nullptr. The pivot is one of its tokens; which one depended on
/// what else was there.
const PivotItem* PivotCells::find_item(QuadNodeId node, EntryId entry, Label label) const {
  const BlockList& list = slot(node).items;
  const TokenSpan tokens = store_.clause(entry).positive;
  if (tokens.empty()) return items_.find(list, label);
  for (const Token token : tokens) {
    const PivotItem* const found =
        items_.find(list, PivotItem::KeyOf{}({pivot_key(token), label, {}}));
    if (found != nullptr) return found;
  }
  return nullptr;
}

bool PivotCells::has_item(QuadNodeId node, EntryId entry) const {
  return find_item(node, entry, labels_.label(entry)) != nullptr;
}

void PivotCells::detach(QuadNodeId node, const Item& item) {
  const PivotItem* const found = find_item(node, item.entry, labels_.label(item.entry));
  ensure(found != nullptr, "pt-quadtree: an entry is not in the list of its cell");
  const PivotKey key = found->key;
  items_.erase(slot(node).items, PivotItem::KeyOf{}(*found));
  if (!has_with(node, key)) lose(node, key);
}

void PivotCells::take_all(QuadNodeId node, std::vector<Item>& out) {
  const Keys keys = keys_of(node);
  for_each_item(node,
                [&](const PivotItem& item) { out.push_back(item_of(labels_.entry(item.label))); });
  items_.release(slot(node).items);
  for (const PivotKey key : keys) lose(node, key);
}

void PivotCells::divided(QuadNodeId node) {
  slot(node).is_divided = true;
  ++inner_cells_;
  add_leaves(node, ~0u);
  if (!is_bulk_) cover(node);
}

void PivotCells::merged(QuadNodeId node) {
  slot(node).is_divided = false;
  --inner_cells_;
  add_leaves(node, 1);
  drop_marks(node);
  choose_anew(node);
}

/// Pivots for all entries of a list at once: fewer than if each came alone.
void PivotCells::choose_anew(QuadNodeId node) {
  const Keys before = keys_of(node);
  set_pivots(node);
  const Keys after = keys_of(node);
  for (const PivotKey key : after) {
    if (!std::binary_search(before.begin(), before.end(), key)) gain(node, key);
  }
  for (const PivotKey key : before) {
    if (!std::binary_search(after.begin(), after.end(), key)) lose(node, key);
  }
}

void PivotCells::set_pivots(QuadNodeId node) {
  std::vector<PivotItem> list;
  std::vector<TokenSpan> sets;
  for_each_item(node, [&](const PivotItem& item) {
    list.push_back(item);
    sets.push_back(tokens_of(item.label));
  });
  const std::vector<PivotKey> pivots = choose_pivots(sets, counts_, rule_in(node));
  for (std::size_t i = 0; i < list.size(); ++i) list[i].key = pivots[i];
  std::ranges::sort(list, {}, PivotItem::KeyOf{});
  items_.release(slot(node).items);
  for (const PivotItem& item : list) items_.insert(slot(node).items, item);
}

void PivotCells::relabel(QuadNodeId node, EntryId entry, const Relabel& move) {
  const PivotItem* const found = find_item(node, entry, move.from);
  ensure(found != nullptr, "pt-quadtree: an entry is not in the list of its cell");
  const PivotItem renamed{found->key, move.to, found->box};
  items_.replace(slot(node).items, PivotItem::KeyOf{}(*found), renamed);
}

void PivotCells::relabel_all(std::span<const Relabel> ascending) {
  for (const Slot& slot : slots_) {
    items_.change_all(slot.items, [&](PivotItem& item) {
      const auto found = std::ranges::lower_bound(ascending, item.label, {}, &Relabel::from);
      if (found != ascending.end() && found->from == item.label) item.label = found->to;
    });
  }
}

void PivotCells::clear() {
  slots_ = {};
  items_ = {};
  marks_ = {};
  counts_.clear();
  inner_cells_ = mark_count_ = stale_ = 0;
}

void PivotCells::end_bulk(QuadNodeId root) {
  is_bulk_ = false;
  for (std::uint32_t node = 0; node < slots_.size(); ++node) set_pivots(QuadNodeId{node});
  make_marks(root);
}

std::size_t PivotCells::memory_bytes() const {
  return slots_.memory_bytes() + items_.memory_bytes() + marks_.memory_bytes() +
         counts_.memory_bytes();
}

}  // namespace nearcast
