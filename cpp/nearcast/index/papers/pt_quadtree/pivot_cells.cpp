#include "nearcast/index/papers/pt_quadtree/pivot_cells.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

bool is_before(const PivotItem& a, const PivotItem& b) {
  return a.key != b.key ? a.key < b.key : a.label < b.label;
}

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

std::span<const PivotItem> PivotCells::items_with(QuadNodeId node, PivotKey key) const {
  const auto list = items(node);
  const auto first = std::lower_bound(list.begin(), list.end(), key,
                                      [](const PivotItem& i, PivotKey k) { return i.key < k; });
  auto last = first;
  while (last != list.end() && last->key == key) ++last;
  return {first, last};
}

PivotCells::Keys PivotCells::keys_of(QuadNodeId node) const {
  Keys keys;
  for (const PivotItem& item : items(node)) {
    if (keys.empty() || keys.back() != item.key) keys.push_back(item.key);
  }
  return keys;
}

/// A pivot that the cell has already, the most used one first: no new token to tell about.
PivotKey PivotCells::pivot_in(QuadNodeId node, TokenSpan tokens) const {
  PivotKey best = choose_pivot(tokens, counts_, rule_in(node));
  if (rule_in(node) == PivotRule::kRare) return best;
  std::size_t most = 0;
  for (const Token token : tokens) {
    const std::size_t users = items_with(node, pivot_key(token)).size();
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
  ListHandle& handle = slot(node).items;
  if (is_bulk_) return items_.push_back(handle, made);
  made.key = pivot_in(node, store_.clause(item.entry).positive);
  const bool is_new = items_with(node, made.key).empty();
  items_.push_back(handle, made);
  const auto list = items_.view(handle);
  const auto at = std::upper_bound(list.begin(), list.end() - 1, made, is_before);
  std::copy_backward(at, list.end() - 1, list.end());
  *at = made;
  if (is_new) gain(node, made.key);
}

/// The entry's item in a cell. The pivot is one of its tokens; which one depended on what else was
/// there.
PivotItem& PivotCells::find_item(QuadNodeId node, EntryId entry, Label label) {
  const auto list = items_.view(slot(node).items);
  const TokenSpan tokens = store_.clause(entry).positive;
  for (std::size_t i = 0; i < std::max<std::size_t>(tokens.size(), 1); ++i) {
    const PivotItem wanted{tokens.empty() ? 0 : pivot_key(tokens[i]), label, {}};
    const auto at = std::lower_bound(list.begin(), list.end(), wanted, is_before);
    if (at != list.end() && at->key == wanted.key && at->label == label) return *at;
  }
  broken("pt-quadtree: an entry is not in the list of its cell");
}

void PivotCells::detach(QuadNodeId node, const Item& item) {
  PivotItem* found = &find_item(node, item.entry, labels_.label(item.entry));
  const PivotKey key = found->key;
  ListHandle& handle = slot(node).items;
  std::copy(found + 1, items_.view(handle).data() + handle.size, found);
  items_.resize(handle, handle.size - 1);
  if (items_with(node, key).empty()) lose(node, key);
}

void PivotCells::take_all(QuadNodeId node, std::vector<Item>& out) {
  const Keys keys = keys_of(node);
  for (const PivotItem& item : items(node)) out.push_back(item_of(labels_.entry(item.label)));
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
  const auto list = items_.view(slot(node).items);
  std::vector<TokenSpan> sets;
  for (const PivotItem& item : list) sets.push_back(tokens_of(item.label));
  const std::vector<PivotKey> pivots = choose_pivots(sets, counts_, rule_in(node));
  for (std::size_t i = 0; i < list.size(); ++i) list[i].key = pivots[i];
  std::sort(list.begin(), list.end(), is_before);
}

void PivotCells::relabel(QuadNodeId node, EntryId entry, const Relabel& move) {
  find_item(node, entry, move.from).label = move.to;
}

void PivotCells::relabel_all(std::span<const Relabel> ascending) {
  for (const Slot& slot : slots_) {
    for (PivotItem& item : items_.view(slot.items)) {
      const auto found =
          std::lower_bound(ascending.begin(), ascending.end(), item.label,
                           [](const Relabel& move, Label label) { return move.from < label; });
      if (found != ascending.end() && found->from == item.label) item.label = found->to;
    }
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
