#include "nearcast/geo/corner_tree.h"

#include "nearcast/base/bounded_array.h"
#include "nearcast/geo/corner_tree_words.h"

namespace nearcast {
namespace corner_tree {

using Words = std::span<const Word>;
using Points = std::span<const Point>;

double double_at(const Word* words) {
  double value;
  std::memcpy(&value, words, sizeof(value));
  return value;
}
Point point_at(const Word* words) { return {double_at(words), double_at(words + 2)}; }

Rect bounds_in(Words tree) {
  const Point low = point_at(&tree[0]), high = point_at(&tree[kPointWords]);
  return {low.lon, low.lat, high.lon, high.lat};
}

/// What the raster says of a point in the bounds.
Word raster_cell(Words tree, Point p) {
  const Word side = tree[kSideAt];
  if (side == 0) return kAskTree;
  const auto along = [&](double distance, const Word* scale) {
    const double cell = distance * double_at(scale);
    return cell >= 0 && cell < side ? static_cast<Word>(cell) : side - 1;  // also of damaged scales
  };
  const Word column = along(p.lon - double_at(&tree[0]), &tree[kBoundsWords]);
  const Word row = along(p.lat - double_at(&tree[2]), &tree[kBoundsWords + 2]);
  const Word cell = row * side + column;
  return tree[kRasterAt + cell / kCellsInWord] >> (2 * (cell % kCellsInWord)) & 3;
}

bool is_split(Word node) { return (node & kKind) == kByLon || (node & kKind) == kByLat; }

/// Chains of a node; nothing if it has none.
struct ChainView {
  Words rising, lying;
  std::size_t words = 0;

  ChainView() = default;
  explicit ChainView(Words from)
      : rising(from.subspan(kChainWords, from[0])),
        lying(from.subspan(kChainWords + from[0], from[1])),
        words(kChainWords + rising.size() + lying.size()) {}
};

/// A node without its children: whatever follows its first words.
struct NodeView {
  Word node;
  ChainView chains;
  Point reference;
  Words edges;  ///< of a leaf; runs of a mixed one
  std::size_t words;

  NodeView(Words tree, std::size_t at) : node(tree[at]), words(is_split(node) ? kSplitWords : 1) {
    const bool is_mixed = (node & kKind) == kMixed;
    if (!is_mixed && (node & kHasChains) != 0) {
      chains = ChainView(tree.subspan(at + words));
      words += chains.words;
    }
    if (is_split(node)) return;
    const std::size_t count = is_mixed ? node >> 2 : node >> 7;
    if (count == 0) return;
    reference = point_at(&tree[at + words]);
    edges = tree.subspan(at + words + kPointWords, count);
    words += kPointWords + count;
  }
};

// ---- points ----

/// How many edges of a chain are beyond p, modulo 2? `is_beyond` holds from one of them on. Sets
/// is_on if the one before that has p.
template <typename IsBeyond>
bool is_odd_beyond(Points points, Words chain, Point p, bool& is_on, IsBeyond&& is_beyond) {
  std::size_t first = 0, end = chain.size();
  while (first < end) {
    const std::size_t middle = first + (end - first) / 2;
    if (is_beyond(points[chain[middle]], points[chain[middle] + 1])) {
      end = middle;
    } else {
      first = middle + 1;
    }
  }
  if (first > 0 && orientation(points[chain[first - 1]], points[chain[first - 1] + 1], p) == 0)
    is_on = true;
  return ((chain.size() - first) & 1) != 0;
}

bool is_odd_beyond(Points points, const ChainView& chains, Point p, bool& is_on) {
  const auto is_east = [&](Point a, Point b) { return is_east_of(a, b, p); };
  // Not is_north_of: what has p itself must count as before it, or it would not be found.
  const auto is_north = [&](Point a, Point b) {
    return b.lon > a.lon ? orientation(a, b, p) < 0 : orientation(a, b, p) > 0;
  };
  return is_odd_beyond(points, chains.rising, p, is_on, is_east) !=
         is_odd_beyond(points, chains.lying, p, is_on, is_north);
}

Side side_of(Points points, Words edges, bool is_inside, Point reference, Point p) {
  for (const Word at : edges) {
    const Point a = points[at], b = points[at + 1];
    if (is_on_edge(a, b, p)) return Side::kBorder;
    is_inside ^= way_crosses(a, b, p, reference);
  }
  return is_inside ? Side::kInside : Side::kOutside;
}

/// Runs of a polygon's holes follow that of its outline.
bool mixed_contains(Points points, const NodeView& leaf, Point p) {
  bool is_inside = false;  // of the polygon that the last runs belong to
  for (std::size_t at = 0; at < leaf.edges.size();) {
    const Word run = leaf.edges[at++];
    const Words edges = leaf.edges.subspan(at, run >> 2);
    at += edges.size();
    const bool is_outline = (run & kIsRunOutline) != 0;
    if (is_outline && is_inside) return true;
    if (!is_outline && !is_inside) continue;
    const Side side = side_of(points, edges, (run & kIsRunInside) != 0, leaf.reference, p);
    is_inside = is_outline ? side != Side::kOutside : side != Side::kInside;
  }
  return is_inside;
}

bool leaf_contains(Points points, const NodeView& leaf, bool is_inside, bool is_on, Point p) {
  Side side = Side::kBorder;
  if (!is_on) {
    side = side_of(points, leaf.edges, is_inside != ((leaf.node & kIsLeafInside) != 0),
                   leaf.reference, p);
  }
  return (leaf.node >> (3 + static_cast<int>(side)) & 1) != 0;
}

// ---- boxes ----

bool any_touches(Points points, Words edges, const Rect& box) {
  for (const Word at : edges) {
    if (edge_touches(points[at], points[at + 1], box)) return true;
  }
  return false;
}

bool any_touches(Points points, const NodeView& node, const Rect& box) {
  if (any_touches(points, node.chains.rising, box)) return true;
  if (any_touches(points, node.chains.lying, box)) return true;
  if ((node.node & kKind) != kMixed) return any_touches(points, node.edges, box);
  for (std::size_t at = 0; at < node.edges.size();) {
    const Words edges = node.edges.subspan(at + 1, node.edges[at] >> 2);
    if (any_touches(points, edges, box)) return true;
    at += 1 + edges.size();
  }
  return false;
}

// ---- trees from files ----

bool are_edges(Words edges, std::size_t points) {
  return std::all_of(edges.begin(), edges.end(),
                     [&](Word at) { return std::size_t{at} + 1 < points; });
}

bool are_runs(Words runs, std::size_t points) {
  for (std::size_t at = 0; at < runs.size();) {
    const std::size_t edges = runs[at++] >> 2;
    if (edges > runs.size() - at || !are_edges(runs.subspan(at, edges), points)) return false;
    at += edges;
  }
  return true;
}

/// How many words the node takes, without its children; 0: not so many are left, or it has a wrong
/// edge.
std::size_t sound_words(Words tree, std::size_t at, std::size_t points) {
  const Word node = tree[at];
  const std::size_t left = tree.size() - at;
  const bool is_mixed = (node & kKind) == kMixed;
  std::size_t words = is_split(node) ? kSplitWords : 1;
  if (!is_mixed && (node & kHasChains) != 0) {
    if (left < words + kChainWords) return 0;
    words += kChainWords + std::size_t{tree[at + words]} + tree[at + words + 1];
  }
  if (const std::size_t count = is_mixed ? node >> 2 : node >> 7; !is_split(node) && count != 0)
    words += kPointWords + count;
  if (words > left) return 0;
  const NodeView view(tree, at);
  const bool has_edges = are_edges(view.chains.rising, points) &&
                         are_edges(view.chains.lying, points) &&
                         (is_mixed ? are_runs(view.edges, points) : are_edges(view.edges, points));
  return has_edges ? words : 0;
}

}  // namespace corner_tree

using namespace corner_tree;

bool tree_contains(const PolygonView& area, Point p) {
  const Words tree = area.tree;
  if (!contains(bounds_in(tree), p)) return false;
  if (const Word cell = raster_cell(tree, p); cell != kAskTree) return cell == kInsideCell;
  bool is_inside = false, is_on = false;
  std::size_t at = root_at(tree[kSideAt]);
  while (true) {
    const NodeView view(tree, at);
    if ((view.node & kKind) == kMixed) return mixed_contains(area.points, view, p);
    if (view.chains.words != 0) is_inside ^= is_odd_beyond(area.points, view.chains, p, is_on);
    if (!is_split(view.node)) return leaf_contains(area.points, view, is_inside, is_on, p);
    const double place = (view.node & kKind) == kByLon ? p.lon : p.lat;
    at = place < double_at(&tree[at + 1]) ? at + view.words : view.node >> 3;
  }
}

bool tree_finds_edge(const PolygonView& area, const Rect& box) {
  const Words tree = area.tree;
  if (!overlaps(bounds_in(tree), box)) return false;
  BoundedArray<std::size_t, kDeepest + 1> later;  // second children of the splits above
  later.push_back(root_at(tree[kSideAt]));
  while (!later.empty()) {
    std::size_t at = later.back();
    later.pop_back();
    while (true) {
      const NodeView view(tree, at);
      if (any_touches(area.points, view, box)) return true;
      if (!is_split(view.node)) break;
      const bool by_lon = (view.node & kKind) == kByLon;
      const double split = double_at(&tree[at + 1]);
      const bool is_below = (by_lon ? box.west : box.south) <= split;
      if (is_below && (by_lon ? box.east : box.north) >= split) later.push_back(view.node >> 3);
      at = is_below ? at + view.words : view.node >> 3;
    }
  }
  return false;
}

bool is_sound_tree(std::span<const std::uint32_t> tree, std::size_t points) {
  BoundedArray<std::size_t, kDeepest> seconds;  // where second children must begin
  if (tree.size() < kRasterAt || tree[kSideAt] > kMostSide) return false;
  std::size_t at = root_at(tree[kSideAt]);
  while (at < tree.size()) {
    const std::size_t words = sound_words(tree, at, points);
    if (words == 0) return false;
    const Word node = tree[at];
    at += words;
    if (is_split(node)) {
      if (seconds.is_full()) return false;
      seconds.push_back(node >> 3);
      continue;
    }
    if (seconds.empty()) return at == tree.size();
    if (seconds.back() != at) return false;
    seconds.pop_back();
  }
  return false;
}

}  // namespace nearcast
