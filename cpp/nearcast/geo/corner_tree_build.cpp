#include <algorithm>
#include <cstring>
#include <utility>

#include "nearcast/geo/corner_tree.h"
#include "nearcast/geo/corner_tree_words.h"

namespace nearcast {
namespace corner_tree {

constexpr std::size_t kFewEdges = 8;    ///< a node with no more edges beside its chains is a leaf
constexpr std::size_t kLeastChain = 4;  ///< fewer edges are not worth a search
constexpr std::size_t kSampled = 64;    ///< edges that a split is chosen by
constexpr std::size_t kFinerFrom = 1000, kFinestFrom = 8000;  ///< corners: 32 and 64 cells a side
constexpr double kLeastRaster = 1e-6;                         ///< degrees of width and height
constexpr double kSlack = 1e-6;        ///< of a cell, far more than rounding moves a point by
constexpr double kLeastSlack = 1e-12;  ///< degrees, the same
constexpr std::size_t kMostTreeCorners = std::size_t{1} << 24;  ///< positions have 29 bits

// ---- chains ----

/// An edge from its southern to its northern end if it rises, from west to east if it lies.
struct Line {
  Point low, high;
};

/// Does it reach beyond the box to the south and to the north? Then it divides all that is between
/// these parallels.
bool rises(Point a, Point b, const Rect& box) {
  return std::min(a.lat, b.lat) < box.south && std::max(a.lat, b.lat) > box.north;
}
bool lies(Point a, Point b, const Rect& box) {
  return std::min(a.lon, b.lon) < box.west && std::max(a.lon, b.lon) > box.east;
}

/// Is a nowhere east of b, where both have points of one latitude?
bool is_west_or_on(const Line& a, const Line& b) {
  const bool low_holds = a.low.lat >= b.low.lat ? orientation(b.low, b.high, a.low) >= 0
                                                : orientation(a.low, a.high, b.low) <= 0;
  if (!low_holds) return false;
  return a.high.lat <= b.high.lat ? orientation(b.low, b.high, a.high) >= 0
                                  : orientation(a.low, a.high, b.high) <= 0;
}
/// Is a nowhere north of b, where both have points of one longitude?
bool is_south_or_on(const Line& a, const Line& b) {
  const bool low_holds = a.low.lon >= b.low.lon ? orientation(b.low, b.high, a.low) <= 0
                                                : orientation(a.low, a.high, b.low) >= 0;
  if (!low_holds) return false;
  return a.high.lon <= b.high.lon ? orientation(b.low, b.high, a.high) <= 0
                                  : orientation(a.low, a.high, b.high) >= 0;
}

struct Chains {
  std::vector<Word> rising, lying;

  std::size_t words() const {
    return rising.empty() && lying.empty() ? 0 : kChainWords + rising.size() + lying.size();
  }
};

// ---- the tree ----

class Builder {
 public:
  explicit Builder(const PolygonView& area) : area_(area) {
    for (Word ring = 0, polygon = 0; ring < area.ring_ends.size(); ++ring) {
      if (ring == area.polygon_ends[polygon]) ++polygon;
      outline_of_.push_back(polygon == 0 ? 0 : area.polygon_ends[polygon - 1]);
    }
  }

  std::vector<Word> build() {
    Node root;
    root.box = bounds(area_);
    root.reference = centre(root.box);
    Word start = 0;
    for (Word ring = 0; ring < area_.ring_ends.size(); ++ring) {
      bool is_inside = false;
      for (Word at = start; at + 1 < area_.ring_ends[ring]; ++at) {
        const auto [a, b] = ends(at);
        root.edges.push_back({at, ring});
        is_inside ^= crosses_parallel(a, b, root.reference.lat) && is_east_of(a, b, root.reference);
      }
      if (is_inside) root.inside.push_back(ring);
      start = area_.ring_ends[ring];
    }
    const Rect box = root.box;
    for (const double side : {box.west, box.south, box.east, box.north}) push(side);
    const Word side = side_for(box, area_.points.size());
    push(side == 0 ? 0 : side / width(box));
    push(side == 0 ? 0 : side / height(box));
    out_.push_back(side);
    out_.resize(root_at(side));
    write(std::move(root), kTreeWords * area_.points.size() - out_.size(), 0);
    draw_raster(box, side);
    return std::move(out_);
  }

 private:
  struct Edge {
    Word at, ring;
  };
  struct Node {
    Rect box;
    Point reference;           ///< in the box
    std::vector<Edge> edges;   ///< that touch the box, ring by ring
    std::vector<Word> inside;  ///< rings that have the reference point inside, ascending
    // Of a node whose edges are of one ring:
    bool is_single = false;
    bool is_inside = false;  ///< is the reference point in the ring, without edges of chains?
    Word answers = 0;
  };
  struct Split {
    bool by_lon = false;
    double at = 0;
    std::size_t shared = 0;  ///< edges that reach both sides
    bool is_possible = false;
  };

  static Point centre(const Rect& box) {
    return {(box.west + box.east) / 2, (box.south + box.north) / 2};
  }
  std::pair<Point, Point> ends(Word at) const { return {area_.points[at], area_.points[at + 1]}; }
  bool is_outline(Word ring) const { return outline_of_[ring] == ring; }

  // ---- the raster ----

  /// Cells on each side; 0: there is nothing to divide.
  static Word side_for(const Rect& box, std::size_t corners) {
    if (!(width(box) > kLeastRaster && height(box) > kLeastRaster)) return 0;
    return corners >= kFinestFrom  ? kMostSide
           : corners >= kFinerFrom ? kMostSide / 2
                                   : kMostSide / 4;
  }

  /// The tree answers meanwhile: an empty raster knows nothing.
  void draw_raster(const Rect& box, Word side) {
    PolygonView view = area_;
    view.tree = out_;  // seen through the raster that is drawn
    for (Word cell = 0; cell < side * side; ++cell) {
      const Word answer = answer_of(view, box, side, cell);
      out_[kRasterAt + cell / kCellsInWord] |= answer << (2 * (cell % kCellsInWord));
    }
  }

  /// Of a cell that is a little larger than it is: rounding can put a point into its neighbour.
  static Word answer_of(const PolygonView& view, const Rect& box, Word side, Word cell) {
    const double wide = width(box) / side, high = height(box) / side;
    const double west = box.west + wide * (cell % side), south = box.south + high * (cell / side);
    const double slack_lon = wide * kSlack + kLeastSlack, slack_lat = high * kSlack + kLeastSlack;
    const Rect grown{west - slack_lon, south - slack_lat, west + wide + slack_lon,
                     south + high + slack_lat};
    if (tree_finds_edge(view, grown)) return kAskTree;
    return contains(view, {west + wide / 2, south + high / 2}) ? kInsideCell : kOutsideCell;
  }

  void push(double value) {
    Word words[2];
    std::memcpy(words, &value, sizeof(words));
    out_.insert(out_.end(), {words[0], words[1]});
  }

  /// Calls visit(ring, its edges, is the reference point inside) for each ring that has edges in the
  /// node or all of the node inside, and before holes for their outline. Holes without edges of
  /// polygons that the node is outside of are left out.
  template <typename Visit>
  void for_each_ring(const Node& node, Visit&& visit) const {
    const std::span<const Edge> edges = node.edges;
    std::size_t edge = 0, inside = 0;
    Word outline = ~Word{0};
    while (edge < edges.size() || inside < node.inside.size()) {
      Word ring = ~Word{0};
      if (edge < edges.size()) ring = edges[edge].ring;
      if (inside < node.inside.size()) ring = std::min(ring, node.inside[inside]);
      const std::size_t first = edge;
      while (edge < edges.size() && edges[edge].ring == ring) ++edge;
      const bool is_inside = inside < node.inside.size() && node.inside[inside] == ring;
      inside += is_inside ? 1 : 0;
      if (outline_of_[ring] != outline) {
        if (edge == first && !is_outline(ring)) continue;
        outline = outline_of_[ring];
        if (!is_outline(ring)) visit(outline, edges.subspan(first, 0), false);
      }
      visit(ring, edges.subspan(first, edge - first), is_inside);
    }
  }

  void write(Node node, std::size_t most, Word depth) {
    if (!node.is_single) make_single(node);
    const Chains chains = node.is_single ? take_chains(node) : Chains{};
    if (node.edges.size() > kFewEdges && depth < kDeepest) {
      const Split by_lon = split_of(node, true), by_lat = split_of(node, false);
      const bool is_wide = width(node.box) > height(node.box);
      const bool is_lon_better =
          by_lon.is_possible &&
          (!by_lat.is_possible || by_lon.shared < by_lat.shared + (is_wide ? 1 : 0));
      const Split& split = is_lon_better ? by_lon : by_lat;
      if (split.is_possible && write_split(node, chains, split, most, depth)) return;
    }
    if (node.is_single) {
      write_leaf(node, chains);
    } else {
      write_mixed(node);
    }
  }

  // ---- nodes with edges of one ring ----

  void make_single(Node& node) const {
    if (!node.edges.empty() && node.edges.front().ring != node.edges.back().ring) return;
    node.is_single = true;
    const Word ring = node.edges.empty() ? ~Word{0} : node.edges.front().ring;
    node.is_inside = std::binary_search(node.inside.begin(), node.inside.end(), ring);
    std::erase(node.inside, ring);
    const bool is_own_outline = ring != ~Word{0} && is_outline(ring);
    const Word own = ring == ~Word{0} ? ring : outline_of_[ring];
    bool has_own_outline = is_own_outline, has_own_hole = false, has_other = false;
    for (std::size_t i = 0; i < node.inside.size();) {
      const Word outline = outline_of_[node.inside[i]];
      const bool has_outline = node.inside[i] == outline;
      const std::size_t first = i;
      while (i < node.inside.size() && outline_of_[node.inside[i]] == outline) ++i;
      if (outline == own) {
        has_own_outline = has_own_outline || has_outline;
        has_own_hole = i - first > (has_outline ? 1u : 0u);
      } else if (has_outline && i - first == 1) {
        has_other = true;
      }
    }
    const bool may_contain = has_own_outline && !has_own_hole;
    const Word outside = may_contain && !is_own_outline, border = may_contain;
    const Word inside = may_contain && is_own_outline;
    node.answers =
        has_other || ring == ~Word{0} ? (has_other ? 7 : 0) : outside | border << 1 | inside << 2;
    node.inside.clear();
  }

  /// Moves edges that pass through the whole box out of the node. Their number beyond a point says
  /// which side of them it is on.
  Chains take_chains(Node& node) {
    Chains chains;
    for (const Edge& edge : node.edges) {
      const auto [a, b] = ends(edge.at);
      if (rises(a, b, node.box)) {
        chains.rising.push_back(edge.at);
      } else if (lies(a, b, node.box)) {
        chains.lying.push_back(edge.at);
      }
    }
    keep_chain(chains.rising, node.reference.lat, true);
    keep_chain(chains.lying, node.reference.lon, false);
    if (chains.rising.empty() && chains.lying.empty()) return chains;
    std::vector<Word> taken = chains.rising;
    taken.insert(taken.end(), chains.lying.begin(), chains.lying.end());
    std::sort(taken.begin(), taken.end());
    std::erase_if(node.edges, [&](const Edge& edge) {
      return std::binary_search(taken.begin(), taken.end(), edge.at);
    });
    for (const Word at : chains.rising)
      node.is_inside ^= is_east_of(ends(at).first, ends(at).second, node.reference);
    for (const Word at : chains.lying)
      node.is_inside ^= is_north_of(ends(at).first, ends(at).second, node.reference);
    return chains;
  }

  /// Sorts edges by where they pass the reference point, roughly, and leaves out each that is then
  /// not exactly beside its predecessor, because they cross or by rounding.
  void keep_chain(std::vector<Word>& chain, double level, bool is_rising) {
    order_.clear();
    if (chain.size() >= kLeastChain) {
      for (const Word at : chain)
        order_.emplace_back(passes_at(line_of(at, is_rising), level, is_rising), at);
    }
    std::sort(order_.begin(), order_.end());
    chain.clear();
    for (const auto& [_, at] : order_) {
      if (!chain.empty()) {
        const Line last = line_of(chain.back(), is_rising), next = line_of(at, is_rising);
        if (!(is_rising ? is_west_or_on(last, next) : is_south_or_on(last, next))) continue;
      }
      chain.push_back(at);
    }
  }

  static double passes_at(const Line& line, double level, bool is_rising) {
    const auto [low, high] = line;
    return is_rising ? low.lon + (level - low.lat) / (high.lat - low.lat) * (high.lon - low.lon)
                     : low.lat + (level - low.lon) / (high.lon - low.lon) * (high.lat - low.lat);
  }

  Line line_of(Word at, bool is_rising) const {
    const auto [a, b] = ends(at);
    const bool is_forward = is_rising ? a.lat <= b.lat : a.lon <= b.lon;
    return is_forward ? Line{a, b} : Line{b, a};
  }

  // ---- splitting ----

  /// At the median of some edges, so that details in a corner of a wide area are found in few steps.
  Split split_of(const Node& node, bool by_lon) {
    const double low = by_lon ? node.box.west : node.box.south;
    const double high = by_lon ? node.box.east : node.box.north;
    const std::size_t step = (node.edges.size() + kSampled - 1) / kSampled;
    sample_.clear();
    for (std::size_t i = 0; i < node.edges.size(); i += step) {
      const auto [a, b] = ends(node.edges[i].at);
      sample_.push_back(std::clamp(by_lon ? (a.lon + b.lon) / 2 : (a.lat + b.lat) / 2, low, high));
    }
    const auto half = sample_.begin() + static_cast<std::ptrdiff_t>(sample_.size() / 2);
    std::nth_element(sample_.begin(), half, sample_.end());
    Split split{by_lon, *half};
    if (!(low < split.at && split.at < high)) split.at = (low + high) / 2;
    split.is_possible = low < split.at && split.at < high;
    for (const Edge& edge : node.edges) {
      const auto [a, b] = ends(edge.at);
      const double first = by_lon ? a.lon : a.lat, second = by_lon ? b.lon : b.lat;
      split.shared += (first < split.at) != (second < split.at) ? 1 : 0;
    }
    return split;
  }

  /// False, and nothing is written, if it does not help or there is no room for it.
  bool write_split(Node& node, const Chains& chains, const Split& split, std::size_t most,
                   Word depth) {
    Node below = child_of(node), above = child_of(node);
    (split.by_lon ? below.box.east : below.box.north) = split.at;
    (split.by_lon ? above.box.west : above.box.south) = split.at;
    divide(node, split, below, above);
    const std::size_t all = node.edges.size();
    if (below.edges.size() == all && above.edges.size() == all) return false;
    place_reference(node, below);
    place_reference(node, above);
    const std::size_t first = most_words(below), second = most_words(above);
    const std::size_t own = kSplitWords + chains.words();
    if (own + first + second > most) return false;
    node = {};  // the memory of a path is what its last nodes need
    const std::size_t position = out_.size();
    out_.push_back(split.by_lon ? kByLon : kByLat);
    push(split.at);
    write_chains(position, chains);
    most -= own;
    const std::size_t children = out_.size();
    const std::size_t share = first + (most - first - second) * first / (first + second);
    write(std::move(below), share, depth + 1);
    out_[position] |= static_cast<Word>(out_.size()) << 3;
    // What the first child left over goes to the second.
    write(std::move(above), most - (out_.size() - children), depth + 1);
    return true;
  }

  static Node child_of(const Node& node) {
    Node child;
    child.box = node.box;
    child.is_single = node.is_single;
    child.answers = node.answers;
    return child;
  }

  void divide(const Node& node, const Split& split, Node& below, Node& above) const {
    for (const Edge& edge : node.edges) {
      const auto [a, b] = ends(edge.at);
      const double first = split.by_lon ? a.lon : a.lat, second = split.by_lon ? b.lon : b.lat;
      const bool is_below = std::min(first, second) <= split.at;
      const bool is_above = std::max(first, second) >= split.at;
      const bool is_both = is_below && is_above;
      if (is_below && (!is_both || edge_touches(a, b, below.box))) below.edges.push_back(edge);
      if (is_above && (!is_both || edge_touches(a, b, above.box))) above.edges.push_back(edge);
    }
  }

  /// The way from the child's reference point to that of the node stays in the node's box.
  void place_reference(const Node& node, Node& child) const {
    child.reference = centre(child.box);
    const auto is_odd = [&](std::span<const Edge> edges) {
      bool is_other_side = false;
      for (const Edge& edge : edges) {
        const auto [a, b] = ends(edge.at);
        is_other_side ^= way_crosses(a, b, child.reference, node.reference);
      }
      return is_other_side;
    };
    if (node.is_single) {
      child.is_inside = node.is_inside != is_odd(node.edges);
      return;
    }
    for_each_ring(node, [&](Word ring, std::span<const Edge> edges, bool is_inside) {
      if (is_inside != is_odd(edges)) child.inside.push_back(ring);
    });
  }

  /// Of the node as a leaf, with or without chains.
  std::size_t most_words(const Node& node) const {
    if (node.edges.empty()) return 1;
    std::size_t words = 1 + kPointWords + kChainWords + node.edges.size();
    if (node.is_single) return words;
    for_each_ring(node, [&](Word, std::span<const Edge>, bool) { ++words; });
    return words;
  }

  // ---- writing ----

  void write_chains(std::size_t position, const Chains& chains) {
    if (chains.words() == 0) return;
    out_[position] |= kHasChains;
    out_.push_back(static_cast<Word>(chains.rising.size()));
    out_.push_back(static_cast<Word>(chains.lying.size()));
    out_.insert(out_.end(), chains.rising.begin(), chains.rising.end());
    out_.insert(out_.end(), chains.lying.begin(), chains.lying.end());
  }

  void write_leaf(const Node& node, const Chains& chains) {
    const std::size_t position = out_.size();
    out_.push_back(static_cast<Word>(node.edges.size()) << 7 |
                   (node.is_inside ? kIsLeafInside : 0) | node.answers << 3 | kLeaf);
    write_chains(position, chains);
    if (node.edges.empty()) return;
    push(node.reference.lon);
    push(node.reference.lat);
    for (const Edge& edge : node.edges) out_.push_back(edge.at);
  }

  void write_mixed(const Node& node) {
    const std::size_t position = out_.size();
    out_.push_back(kMixed);
    push(node.reference.lon);
    push(node.reference.lat);
    const std::size_t start = out_.size();
    for_each_ring(node, [&](Word ring, std::span<const Edge> edges, bool is_inside) {
      out_.push_back(static_cast<Word>(edges.size()) << 2 | (is_outline(ring) ? kIsRunOutline : 0) |
                     (is_inside ? kIsRunInside : 0));
      for (const Edge& edge : edges) out_.push_back(edge.at);
    });
    out_[position] |= static_cast<Word>(out_.size() - start) << 2;
  }

  const PolygonView& area_;
  std::vector<Word> outline_of_;  ///< by ring: the first ring of its polygon
  std::vector<Word> out_;
  std::vector<double> sample_;
  std::vector<std::pair<double, Word>> order_;
};

}  // namespace corner_tree

std::vector<std::uint32_t> build_corner_tree(const PolygonView& area) {
  const std::size_t corners = area.points.size();
  if (corners < kLeastTreeCorners || corners > corner_tree::kMostTreeCorners) return {};
  return corner_tree::Builder(area).build();
}

}  // namespace nearcast
