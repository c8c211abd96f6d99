/// Quadtrees of entries by bounding box, many in one set of arrays. All quadtree indexes use it:
/// one with a single tree has one root, one with a tree per list has many. [AP §3.1 each
/// subscription is attached to one or several cells]
///
/// A cell starts undivided and holds everything that touches it. When it holds more than max_leaf
/// entries it is divided: each entry stays, if the rule says so, or goes to all children it
/// touches, where the same happens again. So an entry's cells never overlap, a point meets it once
/// at most, and a range may meet it several times. Cells that become empty are freed; a divided
/// cell with no more than half of max_leaf left below it is made whole again. The same entries
/// always lead to the same answers, and build() makes what single inserts would.
///
/// What is attached to cells, and the rule, is the Content: a class that derives from QuadContent
/// (its hooks do nothing) and has
///
///   Item                            what is placed: at least `EntryId entry` and `Rect box`
///   created(node, parent, cell)     a new cell, with nothing attached; a root has no parent
///   freed(node)                     nothing is attached to it any more
///   attach(node, item)
///   detach(node, item)              the item is there
///   take_all(node, out)             append what is attached to `out` and forget it
///   stays(node, cell, item)         the rule; called for divided cells only
///   may_divide(node, cell)          called for cells that hold more than max_leaf
///   divided(node)                   a division is complete
///   merged(node)                    a merger is complete
///   clear()                         everything is gone
///
/// A division is take_all(node), then for each item attach(node) or, created where missing,
/// attach(child), then divided(node); children that overflow in turn are divided before. A merger
/// is take_all(node), take_all and freed for every node below, attach(node) for each entry once,
/// then merged(node).
///
/// stays() must give the same answer for one item and cell as long as the item is there: erase()
/// finds the cells by calling it again. What it depends on is therefore stored, not estimated anew.
#pragma once

#include <utility>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/base/work_counters.h"
#include "nearcast/index/parts/quad_tree/quad_nodes.h"

namespace nearcast {

struct QuadLimits {
  std::uint32_t max_leaf;   ///< a cell with more entries is divided
  std::uint32_t max_depth;  ///< unless it lies so deep; the root's depth is 0
};

/// Hooks that do nothing, for a Content that does not need them.
struct QuadContent {
  void created(QuadNodeId, QuadNodeId, const QuadCell&) {}
  void freed(QuadNodeId) {}
  bool may_divide(QuadNodeId, const QuadCell&) const { return true; }
  void divided(QuadNodeId) {}
  void merged(QuadNodeId) {}
};

template <typename Content>
class QuadForest {
 public:
  using Item = typename Content::Item;

  template <typename... ContentArguments>
  explicit QuadForest(QuadLimits limits, ContentArguments&&... arguments)
      : limits_(limits), content_(std::forward<ContentArguments>(arguments)...) {}

  const QuadNodes& nodes() const { return nodes_; }
  const Content& content() const { return content_; }
  Content& content() { return content_; }
  const QuadLimits& limits() const { return limits_; }

  QuadNodeId create_root();
  void free_root(QuadNodeId root);  ///< is empty
  /// Empty the whole tree into `out`, each entry once, and free it, root included.
  void dissolve(QuadNodeId root, std::vector<Item>& out);

  void insert(QuadNodeId root, const Item& item) { place(root, frame_, item); }  ///< not there yet
  void erase(QuadNodeId root, const Item& item) { remove(root, frame_, item); }  ///< is there
  /// Bulk load into an empty tree.
  void build(QuadNodeId root, std::vector<Item> items) { fill(root, frame_, std::move(items)); }

  /// Calls visit(node) for each cell that the place touches, from the root down.
  template <typename Visit>
  void search(QuadNodeId root, const Place& place, WorkCounters& work, Visit&& visit) const {
    if (place.is_point) {
      search_path(root, place.point(), work, visit);
    } else {
      search_below(root, frame_, QuadPlace(place), work, visit);
    }
  }
  /// Calls visit(node) for each cell that the item is attached to.
  template <typename Visit>
  void for_each_cell_of(QuadNodeId root, const Item& item, Visit&& visit) const {
    find_cells(root, frame_, item, visit);
  }
  /// Calls visit(node, cell) for each cell, parents first.
  template <typename Visit>
  void for_each_cell(QuadNodeId root, Visit&& visit) const {
    walk(root, frame_, visit);
  }

  void clear() {  ///< all trees at once
    nodes_ = {};
    content_.clear();
  }
  std::size_t memory_bytes() const { return nodes_.memory_bytes(); }  ///< without the content

 private:
  template <typename Visit>
  void search_path(QuadNodeId node, Point point, WorkCounters& work, Visit& visit) const;
  template <typename Visit>
  void search_below(QuadNodeId node, const QuadCell& cell, const QuadPlace& place,
                    WorkCounters& work, Visit& visit) const;
  template <typename Visit>
  void find_cells(QuadNodeId node, const QuadCell& cell, const Item& item, Visit& visit) const;
  template <typename Visit>
  void walk(QuadNodeId node, const QuadCell& cell, Visit& visit) const;

  bool is_too_full(QuadNodeId node, const QuadCell& cell, std::size_t entries) const {
    return entries > limits_.max_leaf && nodes_[node].depth < limits_.max_depth &&
           content_.may_divide(node, cell);
  }
  QuadNodeId child_or_create(QuadNodeId node, const QuadCell& cell, Quadrant quadrant);
  void place(QuadNodeId node, const QuadCell& cell, const Item& item);
  void place_divided(QuadNodeId node, const QuadCell& cell, const Item& item);
  void divide(QuadNodeId node, const QuadCell& cell);
  void fill(QuadNodeId node, const QuadCell& cell, std::vector<Item> items);
  void remove(QuadNodeId node, const QuadCell& cell, const Item& item);
  void remove_below(QuadNodeId node, const QuadCell& cell, const Item& item);
  void merge(QuadNodeId node);
  void take_below(QuadNodeId node, std::vector<Item>& out);

  QuadLimits limits_;
  QuadCell frame_ = kWorldCell;
  QuadNodes nodes_;
  Content content_;
};

template <typename Content>
template <typename Visit>
void QuadForest<Content>::search_path(QuadNodeId node, Point point, WorkCounters& work,
                                      Visit& visit) const {
  for (QuadCell cell = frame_; node != kNoQuadNode;) {
    ++work.nodes_visited;
    visit(node);
    const Quadrant quadrant = quadrant_of(cell, point);
    node = nodes_[node].children[quadrant];
    cell = cell.child(quadrant);
  }
}

template <typename Content>
template <typename Visit>
void QuadForest<Content>::search_below(QuadNodeId node, const QuadCell& cell,
                                       const QuadPlace& place, WorkCounters& work,
                                       Visit& visit) const {
  ++work.nodes_visited;
  visit(node);
  for (Quadrant quadrant = 0; quadrant < 4; ++quadrant) {
    const QuadNodeId child = nodes_[node].children[quadrant];
    if (child == kNoQuadNode) continue;
    const QuadPlace inside = place.in_child(cell, quadrant);
    if (inside.parts != 0) search_below(child, cell.child(quadrant), inside, work, visit);
  }
}

}  // namespace nearcast

#include "nearcast/index/parts/quad_tree/quad_forest_change.h"
