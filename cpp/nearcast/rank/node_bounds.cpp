#include "nearcast/rank/node_bounds.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/rank/text_needs.h"

namespace nearcast {
namespace {

// Products of lengths below this lose digits, so a quotient by them is not a bound.
constexpr double kTiny = 1e-200;

double shared_size(const Rect& a, const Rect& b) {
  const double wide = std::min(a.east, b.east) - std::max(a.west, b.west);
  const double tall = std::min(a.north, b.north) - std::max(a.south, b.south);
  return wide > 0 && tall > 0 ? wide * tall : 0;
}

}  // namespace

void RankBounds::join(const RankBounds& other) {
  weight = std::min(weight, other.weight);
  size = std::min(size, other.size);
  goal = std::min(goal, other.goal);
  alpha_low = std::min(alpha_low, other.alpha_low);
  alpha_high = std::max(alpha_high, other.alpha_high);
}

bool RankBounds::excludes(double spatial, double textual) const {
  const double most_spatial = std::min(1.0, spatial), most_textual = std::min(1.0, textual);
  return std::max(combine(alpha_low, most_spatial, most_textual),
                  combine(alpha_high, most_spatial, most_textual)) < goal;
}

double RankBounds::spatial(const Rect& box, const Place& place) const {
  if (!touches(box, place)) return 0;
  if (place.is_point || size < kTiny) return 1;
  double shared = shared_size(box, place.part[0]);
  if (place.parts == 2) shared += shared_size(box, place.part[1]);
  return shared / size;
}

RankBounds NodeBounds::of_entry(EntryId entry) const {
  const SubscriptionId id{raw(entry)};
  const RankTerms& terms = store_.terms(id);
  const Place area = Place::box(store_.area(id));
  double size = area_of(area.part[0]);
  if (area.parts == 2) size += area_of(area.part[1]);
  return {store_.weight(id), size, score_goal(terms.threshold), terms.alpha, terms.alpha};
}

RankBounds NodeBounds::of_children(const RTreeNodes& nodes, RNodeId node) const {
  RankBounds all;
  for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot) {
    all.join(nodes.is_leaf(node) ? of_entry(nodes.entry(node, slot))
                                 : bounds_[raw(nodes.child(node, slot))]);
  }
  return all;
}

void NodeBounds::node_created(const RTreeNodes&, RNodeId node) {
  if (bounds_.size() <= raw(node)) bounds_.resize(raw(node) + 1);
  bounds_[raw(node)] = RankBounds{};
}

void NodeBounds::entry_added(const RTreeNodes&, RNodeId node, EntryId entry) {
  bounds_[raw(node)].join(of_entry(entry));
}

void NodeBounds::entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId) {
  bounds_[raw(node)] = of_children(nodes, node);
}

void NodeBounds::subtree_added(const RTreeNodes&, RNodeId node, RNodeId child) {
  bounds_[raw(node)].join(bounds_[raw(child)]);
}

void NodeBounds::subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId) {
  bounds_[raw(node)] = of_children(nodes, node);
}

void NodeBounds::compute_all(const RTreeNodes& nodes) {
  if (nodes.root() != kNoRNode) compute_below(nodes, nodes.root());
}

void NodeBounds::compute_below(const RTreeNodes& nodes, RNodeId node) {
  for (std::uint32_t slot = 0; !nodes.is_leaf(node) && slot < nodes.count(node); ++slot) {
    compute_below(nodes, nodes.child(node, slot));
  }
  bounds_[raw(node)] = of_children(nodes, node);
}

void NodeBounds::check_invariants(const RTreeNodes& nodes) const {
  if (nodes.root() != kNoRNode) check_below(nodes, nodes.root());
}

void NodeBounds::check_below(const RTreeNodes& nodes, RNodeId node) const {
  ensure(bounds_[raw(node)] == of_children(nodes, node),
         "ranking tree: the bounds of a node are not those of what is below it");
  for (std::uint32_t slot = 0; !nodes.is_leaf(node) && slot < nodes.count(node); ++slot) {
    check_below(nodes, nodes.child(node, slot));
  }
}

}  // namespace nearcast
