#include "nearcast/index/parts/quad_tree/density.h"

#include <vector>

namespace nearcast {
namespace {

constexpr std::size_t kMaxCells =
    1 << 16;  ///< large ranges visit many cells: their number is bounded
constexpr std::size_t kMinMessages = 16;  ///< fewer say nothing about where in the cell they are
constexpr int kMaxDepth = 24;
constexpr double kPrior = 0.5;  ///< messages in any cell: none seen does not mean none will come

struct Pending {
  std::uint32_t cell;
  int depth;
  QuadCell extent;
  std::vector<QuadPlace> places;
};

}  // namespace

/// Breadth first: when the cells run out, all regions are resolved to about the same depth.
void MessageDensity::learn(std::span<const Place> places) {
  cells_.clear();
  width_ = height_ = 0;
  if (places.empty()) return;
  const double messages = static_cast<double>(places.size());
  for (const Place& place : places) {
    width_ += (width(place.part[0]) + (place.parts == 2 ? width(place.part[1]) : 0)) / messages;
    height_ += height(place.part[0]) / messages;
  }
  cells_.push_back({0, 1});
  std::vector<Pending> level, next;
  level.push_back({0, 0, kWorldCell, {places.begin(), places.end()}});
  for (; !level.empty(); level = std::move(next), next.clear()) {
    for (Pending& parent : level) {
      if (parent.places.size() < kMinMessages || parent.depth == kMaxDepth) continue;
      if (cells_.size() + 4 > kMaxCells) return;
      const auto first = static_cast<std::uint32_t>(cells_.size());
      cells_[parent.cell].first_child = first;
      for (Quadrant quadrant = 0; quadrant < 4; ++quadrant) {
        Pending child{first + quadrant, parent.depth + 1, parent.extent.child(quadrant), {}};
        for (const QuadPlace& place : parent.places) {
          const QuadPlace inside = place.in_child(parent.extent, quadrant);
          if (inside.parts != 0) child.places.push_back(inside);
        }
        const double visits = static_cast<double>(child.places.size());
        cells_.push_back({0, static_cast<float>((visits + kPrior) / (messages + kPrior))});
        next.push_back(std::move(child));
      }
      parent.places = {};
    }
  }
}

double MessageDensity::share(const QuadCell& cell) const {
  QuadCell at = kWorldCell;
  double share = 1;
  std::uint32_t known = 0;
  bool is_known = !cells_.empty();
  while (at.half_width > cell.half_width) {
    const Quadrant quadrant = quadrant_of(at, {cell.lon, cell.lat});
    const double even_share = share * part(at, 2);
    at = at.child(quadrant);
    is_known = is_known && cells_[known].first_child != 0;
    known = is_known ? cells_[known].first_child + quadrant : 0;
    share = is_known ? static_cast<double>(cells_[known].share) : even_share;
  }
  return share;
}

}  // namespace nearcast
