#include "nearcast/index/papers/pt_quadtree/pivot_tree.h"

#include <algorithm>
#include <cmath>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

/// The first level whose cells are smaller than the area.
std::uint32_t depth_for(double min_area) {
  const double cells = area_of(kWorld) / min_area;
  const double depth = std::floor(std::log2(std::max(cells, 1.0)) / 2) + 1;
  return static_cast<std::uint32_t>(std::min<double>(kDeepestLevel, depth));
}

}  // namespace

std::vector<ParameterSpec> pivot_tree_parameters() {
  const PivotTreeOptions standard;
  return {
      whole("max_leaf_size", standard.max_leaf_size, 1, 1e6, "a cell with more entries is divided"),
      real("min_area", standard.min_area, 1e-12, 64'800,
           "cells of less area, in square degrees, are never divided"),
      whole("max_copies", static_cast<double>(standard.max_copies), 1, 1e6,
            "cells that may hold the same entry; 1: the smallest cell around its area"),
      choice("pivot", {"frequent", "rare"},
             "the token that stands for an entry: few for all, or each entry's rarest"),
      flag("cover", standard.has_covers,
           "a token that all four children have is kept above them only")};
}

PivotTreeOptions pivot_tree_options(const Parameters& parameters) {
  return {static_cast<std::uint32_t>(parameters.count("max_leaf_size")),
          parameters.number("min_area"), parameters.count("max_copies"),
          parameters.word("pivot") == "rare" ? PivotRule::kRare : PivotRule::kFrequent,
          parameters.flag("cover")};
}

PivotTree::PivotTree(const SubscriptionStore& store, const Labels& labels,
                     const PivotTreeOptions& options)
    : store_(store),
      forest_({options.max_leaf_size, depth_for(options.min_area)}, store, labels,
              PivotCells::Options{options.rule, options.max_copies, options.has_covers}) {
  cells().belong_to(forest_.nodes());
  root_ = forest_.create_root();
}

void PivotTree::insert(EntryId entry) {
  cells().count(entry, +1);
  forest_.insert(root_, cells().item_of(entry));
  ++size_;
}

void PivotTree::erase(EntryId entry) {
  forest_.erase(root_, cells().item_of(entry));
  cells().count(entry, -1);
  --size_;
  if (cells().stale() > size_ / 4 + 64) cells().make_marks(root_);
}

void PivotTree::rebuild() {
  forest_.clear();
  root_ = forest_.create_root();
  std::vector<PivotCells::Item> items;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      cells().count(entry, +1);
      items.push_back(cells().item_of(entry));
    });
  });
  size_ = items.size();
  cells().begin_bulk();
  forest_.build(root_, std::move(items));
  cells().end_bulk(root_);
}

void PivotTree::relabel(const Relabel& move) {
  const EntryId entry = cells().entry_of(move.to);
  forest_.for_each_cell_of(root_, cells().item_of(entry),
                           [&](QuadNodeId node) { cells().relabel(node, entry, move); });
}

void PivotTree::relabel(std::span<const Relabel> ascending) {
  if (ascending.size() > size_ / 8) return cells().relabel_all(ascending);
  // Labels that grow are changed from the right, labels that shrink from the left: so no label
  // passes another, and lists are sorted after each step.
  for (std::size_t i = ascending.size(); i-- > 0;) {
    if (ascending[i].to > ascending[i].from) relabel(ascending[i]);
  }
  for (const Relabel& move : ascending) {
    if (move.to < move.from) relabel(move);
  }
}

double PivotTree::estimate_leaves(const Place& place, std::uint32_t level) const {
  return place.is_point ? 1 : estimate_below(root_, kWorldCell, QuadPlace(place), level);
}

double PivotTree::estimate_below(QuadNodeId node, const QuadCell& cell, const QuadPlace& place,
                                 std::uint32_t level) const {
  if (level > 0 && forest_.nodes()[node].is_divided) {
    double sum = 0;
    for (Quadrant quadrant = 0; quadrant < 4; ++quadrant) {
      const QuadNodeId child = forest_.nodes()[node].children[quadrant];
      const QuadPlace inside = place.in_child(cell, quadrant);
      if (child == kNoQuadNode || inside.parts == 0) continue;
      sum += estimate_below(child, cell.child(quadrant), inside, level - 1);
    }
    return sum;
  }
  double touched = 0;
  const Rect outer = cell.bounds();
  for (int part = 0; part < place.place->parts; ++part) {
    const Rect& box = place.place->part[part];
    const double across = std::min(box.east, outer.east) - std::max(box.west, outer.west);
    const double along = std::min(box.north, outer.north) - std::max(box.south, outer.south);
    if (across >= 0 && along >= 0) touched += across * along;
  }
  return std::max(1.0, cells().leaves(node) * touched / area_of(outer));
}

double PivotTree::average_marks() const {
  return static_cast<double>(cells().mark_count()) /
         static_cast<double>(std::max<std::size_t>(1, cells().inner_cells()));
}

std::uint32_t PivotTree::height() const {
  return static_cast<std::uint32_t>(1 + std::ceil(std::log2(cells().leaves(root_) + 1) / 2));
}

void PivotTree::check_invariants() const {
  forest_.nodes().check(root_);
  cells().check(root_, {});
  std::size_t entries = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      forest_.for_each_cell_of(root_, cells().item_of(entry), [&](QuadNodeId node) {
        ensure(cells().has_item(node, entry), "pt-quadtree: an entry is not where it belongs");
      });
    });
  });
  ensure(entries == size_, "pt-quadtree: holds more or fewer entries than the store");
}

}  // namespace nearcast
