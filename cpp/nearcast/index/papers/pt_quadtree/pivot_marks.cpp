/// Marks: which pivots lead to which children. [LFilter §4.1 cover set and non-cover set, updates]
///
/// Invariant: a pivot of a cell has, in each cell above it, a mark with the bit of the child it
/// lies in, or some cell above that one covers it. Bits without kCover are exact, unless a cell
/// above covers the token: then they are not read.
#include <algorithm>
#include <iterator>
#include <string>

#include "nearcast/base/errors.h"
#include "nearcast/base/list_room.h"
#include "nearcast/index/papers/pt_quadtree/pivot_cells.h"

namespace nearcast {
namespace {

using Mark = PivotCells::Mark;

PivotKey key_of(Mark mark) { return mark >> 6; }
Mark mark_of(PivotKey key) { return key << 6; }
constexpr PivotKey kKeyLimit = 1u << 26;

template <typename Marks>
auto lower_bound_key(Marks& marks, PivotKey key) {
  return std::lower_bound(marks.begin(), marks.end(), mark_of(key));
}

void unite(PivotCells::Keys& keys, const PivotCells::Keys& more) {
  PivotCells::Keys all;
  std::set_union(keys.begin(), keys.end(), more.begin(), more.end(), std::back_inserter(all));
  keys.swap(all);
}

}  // namespace

const Mark* PivotCells::find_mark(QuadNodeId node, PivotKey key) const {
  const auto marks = marks_.view(slot(node).marks);
  const auto found = lower_bound_key(marks, key);
  return found != marks.end() && key_of(*found) == key ? &*found : nullptr;
}

Mark* PivotCells::find_mark(QuadNodeId node, PivotKey key) {
  return const_cast<Mark*>(std::as_const(*this).find_mark(node, key));
}

const Mark* PivotCells::find_mark(QuadNodeId node, PivotKey key, std::size_t& from) const {
  const auto marks = marks_.view(slot(node).marks);
  // Keys of one message are closer to each other than to the ends, so the search begins with steps
  // that double.
  std::size_t step = 1, begin = from;
  while (begin + step < marks.size() && marks[begin + step] < mark_of(key)) {
    begin += step;
    step *= 2;
  }
  const auto end =
      marks.begin() + static_cast<std::ptrdiff_t>(std::min(begin + step + 1, marks.size()));
  const auto found =
      std::lower_bound(marks.begin() + static_cast<std::ptrdiff_t>(begin), end, mark_of(key));
  from = static_cast<std::size_t>(found - marks.begin());
  return from < marks.size() && key_of(*found) == key ? &*found : nullptr;
}

void PivotCells::add_bits(QuadNodeId node, PivotKey key, Mark bits) {
  if (key >= kKeyLimit)
    too_large("keywords of pt-quadtree", std::to_string(key), "fewer than 2^26");
  if (key >= kKeyLimit - kKeyLimit / 64) is_near_list_limit = true;
  if (Mark* mark = find_mark(node, key)) {
    *mark |= bits;
    return;
  }
  ListHandle& handle = slot(node).marks;
  marks_.push_back(handle, mark_of(key) | bits);
  const auto list = marks_.view(handle);
  std::rotate(std::upper_bound(list.begin(), list.end() - 1, list.back()), list.end() - 1,
              list.end());
  ++mark_count_;
}

/// False: there is no such mark, or a cover, which keeps its bits.
bool PivotCells::remove_bits(QuadNodeId node, PivotKey key, Mark bits) {
  Mark* mark = find_mark(node, key);
  if (mark == nullptr || (bits != kOwn && (*mark & kCover))) return false;
  *mark &= ~bits;
  if ((*mark & (kAllChildren | kOwn)) == 0) drop_mark(node, key);
  return true;
}

/// The cell's list has its first entry with this pivot.
void PivotCells::gain(QuadNodeId node, PivotKey key) {
  if ((*nodes_)[node].is_divided) add_bits(node, key, kOwn);
  tell_gained(node, key);
}

/// The cell's list has lost its last entry with this pivot.
void PivotCells::lose(QuadNodeId node, PivotKey key) {
  remove_bits(node, key, kOwn);
  tell_lost(node, key);
}

void PivotCells::drop_mark(QuadNodeId node, PivotKey key) {
  ListHandle& handle = slot(node).marks;
  const auto list = marks_.view(handle);
  const auto at = lower_bound_key(list, key);
  std::copy(at + 1, list.end(), at);
  marks_.resize(handle, handle.size - 1);
  --mark_count_;
}

/// The cell has no children any more. Covers among its marks may have been stale: the cells above
/// are updated now.
void PivotCells::drop_marks(QuadNodeId node) {
  const auto list = marks_.view(slot(node).marks);
  const std::vector<Mark> dropped(list.begin(), list.end());
  mark_count_ -= dropped.size();
  marks_.release(slot(node).marks);
  for (const Mark mark : dropped) tell_lost(node, key_of(mark));
}

/// The cell has a pivot that it did not have: mark the way to it, as far as no cover says it.
void PivotCells::tell_gained(QuadNodeId node, PivotKey key) {
  std::vector<QuadNodeId> path;
  for (; slot(node).parent != kNoQuadNode; node = slot(node).parent) path.push_back(node);
  for (; !path.empty(); path.pop_back()) {
    const QuadNodeId above = slot(path.back()).parent;
    const Mark* mark = find_mark(above, key);
    if (mark != nullptr && (*mark & kCover)) return;
    add_bits(above, key, slot(path.back()).bit);
  }
}

/// The cell may have this pivot no longer, neither itself nor below.
void PivotCells::tell_lost(QuadNodeId node, PivotKey key) {
  for (; !has_key(node, key); node = slot(node).parent) {
    const QuadNodeId above = slot(node).parent;
    if (above == kNoQuadNode) return;
    if (remove_bits(above, key, slot(node).bit)) continue;
    ++stale_;  // covered there or higher up
    return;
  }
}

/// A cell was just divided: pivots for its children, and covers for what all four have.
void PivotCells::cover(QuadNodeId node) {
  const auto& children = (*nodes_)[node].children;
  for (const QuadNodeId child : children) {
    if (child != kNoQuadNode && !slot(child).is_divided) choose_anew(child);
  }
  set_covers(node);
}

/// Removes from the child the marks of tokens that the cell covers.
void PivotCells::drop_covered(QuadNodeId node, QuadNodeId child) {
  ListHandle& handle = slot(child).marks;
  const auto list = marks_.view(handle);
  const auto end = std::remove_if(list.begin(), list.end(), [&](Mark mark) {
    const Mark* above = find_mark(node, key_of(mark));
    return above != nullptr && (*above & kCover);
  });
  const auto left = static_cast<std::uint32_t>(end - list.begin());
  mark_count_ -= handle.size - left;
  marks_.resize(handle, left);
}

void PivotCells::make_marks(QuadNodeId root) {
  for (Slot& slot : slots_) slot.marks = {};
  marks_ = {};
  mark_count_ = stale_ = 0;
  make_marks_below(root);
}

/// Returns the pivots at the cell and below it.
PivotCells::Keys PivotCells::make_marks_below(QuadNodeId node) {
  Keys all = keys_of(node);
  if (!slot(node).is_divided) return all;
  std::vector<Mark> made;
  for (const PivotKey key : all) made.push_back(mark_of(key) | kOwn);
  for (const QuadNodeId child : (*nodes_)[node].children) {
    if (child == kNoQuadNode) continue;
    for (const PivotKey key : make_marks_below(child)) {
      made.push_back(mark_of(key) | slot(child).bit);
    }
  }
  std::sort(made.begin(), made.end());
  ensure(made.empty() || key_of(made.back()) < kKeyLimit,
         "pt-quadtree: more tokens than a mark can name");
  all.clear();
  for (const Mark mark : made) {
    if (!all.empty() && all.back() == key_of(mark)) {
      marks_.view(slot(node).marks).back() |= mark;
    } else {
      all.push_back(key_of(mark));
      marks_.push_back(slot(node).marks, mark);
    }
  }
  mark_count_ += all.size();
  set_covers(node);
  return all;
}

/// Makes covers of the tokens that all four children have, and removes them there.
void PivotCells::set_covers(QuadNodeId node) {
  if (!options_.has_covers) return;
  for (Mark& mark : marks_.view(slot(node).marks)) {
    if ((mark & kAllChildren) == kAllChildren) mark |= kCover;
  }
  for (const QuadNodeId child : (*nodes_)[node].children) {
    if (child != kNoQuadNode) drop_covered(node, child);
  }
}

void PivotCells::check_item(QuadNodeId node, const PivotItem& item) const {
  const EntryId entry = labels_.entry(item.label);
  const Item placed = item_of(entry);
  ensure(store_.is_live(store_.owner(entry)), "pt-quadtree: an item stands for no subscription");
  const FloatBox box = float_box(placed.box);
  ensure(covers(item.box, box) && covers(box, item.box),
         "pt-quadtree: an item's box is not its subscription's");
  ensure(placed.level >= slot(node).depth, "pt-quadtree: an entry lies deeper than its level");
  ensure(!slot(node).is_divided || placed.level == slot(node).depth,
         "pt-quadtree: an entry of a divided cell belongs below it");
  const TokenSpan tokens = store_.clause(entry).positive;
  ensure(item.key == 0 ? tokens.empty() : contains(tokens, Token{item.key - 1}),
         "pt-quadtree: an entry's pivot is none of its tokens");
}

void PivotCells::check_marks(QuadNodeId node, const Keys& covered) const {
  const auto marks = marks_.view(slot(node).marks);
  ensure(std::is_sorted(marks.begin(), marks.end()), "pt-quadtree: marks are not sorted");
  for (const Mark mark : marks) {
    ensure((mark & (kAllChildren | kOwn)) != 0, "pt-quadtree: a mark leads nowhere");
    const PivotKey key = key_of(mark);
    if (std::binary_search(covered.begin(), covered.end(), key)) continue;
    ensure(!(mark & kOwn) || has_with(node, key),
           "pt-quadtree: a mark promises an entry that is not there");
    if (mark & kCover) continue;
    Mark found = 0;
    for (const QuadNodeId child : (*nodes_)[node].children) {
      if (child != kNoQuadNode && has_key(child, key)) found |= slot(child).bit;
    }
    ensure((mark & kAllChildren & ~found) == 0,
           "pt-quadtree: a mark promises a pivot that is not there");
  }
}

PivotCells::Keys PivotCells::check(QuadNodeId node, Keys covered) const {
  items_.check(slot(node).items);
  for_each_item(node, [&](const PivotItem& item) { check_item(node, item); });
  ensure(slot(node).is_divided == (*nodes_)[node].is_divided, "pt-quadtree: a division is unknown");
  check_marks(node, covered);
  for (const PivotKey key : slot(node).is_divided ? keys_of(node) : Keys{}) {
    const Mark* mark = find_mark(node, key);
    ensure((mark != nullptr && (*mark & kOwn)) ||
               std::binary_search(covered.begin(), covered.end(), key),
           "pt-quadtree: a pivot of a divided cell is not marked");
  }
  Keys all = keys_of(node), covered_here;
  for (const Mark mark : marks_.view(slot(node).marks)) {
    if (mark & kCover) covered_here.push_back(key_of(mark));
  }
  unite(covered, covered_here);
  std::uint32_t leaves = slot(node).is_divided ? 0 : 1;
  for (const QuadNodeId child : (*nodes_)[node].children) {
    if (child == kNoQuadNode) continue;
    ensure(slot(child).parent == node, "pt-quadtree: a cell names another parent");
    leaves += slot(child).leaves;
    const Keys keys = check(child, covered);
    for (const PivotKey key : keys) {
      if (std::binary_search(covered.begin(), covered.end(), key)) continue;
      const Mark* mark = find_mark(node, key);
      ensure(mark != nullptr && (*mark & slot(child).bit), "pt-quadtree: a pivot is not marked");
    }
    unite(all, keys);
  }
  ensure(leaves == slot(node).leaves, "pt-quadtree: leaves are counted wrong");
  return all;
}

}  // namespace nearcast
