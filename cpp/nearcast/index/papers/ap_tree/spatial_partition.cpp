#include "nearcast/index/papers/ap_tree/spatial_partition.h"

#include <cmath>
#include <limits>

#include "nearcast/index/papers/ap_tree/line_cuts.h"
#include "nearcast/index/papers/ap_tree/sample.h"

namespace nearcast::ap {
namespace {

// Lines are chosen by this many entries at most: quantiles of more would not differ.
constexpr std::size_t kMaxLooks = 8192;

struct Axis {
  double Rect::* low;
  double Rect::* high;
};
constexpr Axis kX{&Rect::west, &Rect::east}, kY{&Rect::south, &Rect::north};

/// The part of `space` where anything differs between entries: the hull of those that do not cover
/// it. Empty if all do.
Rect region_of(std::span<const Rect> boxes, const Rect& space) {
  Rect region = kNowhere;
  for (const Rect& box : boxes) {
    if (covers(box, space)) continue;
    region = join(region, {std::clamp(box.west, space.west, space.east),
                           std::clamp(box.south, space.south, space.north),
                           std::clamp(box.east, space.west, space.east),
                           std::clamp(box.north, space.south, space.north)});
  }
  return region;
}

std::vector<Rect> looks_at(std::span<const Rect> boxes, const Rect& region) {
  std::vector<Rect> looks;
  const std::size_t step = boxes.size() / kMaxLooks + 1;
  for (std::size_t i = 0; i < boxes.size(); i += step) {
    if (!covers(boxes[i], region)) looks.push_back(boxes[i]);
  }
  return looks;
}

std::vector<double> sorted_sides(std::span<const Rect> boxes, double Rect::* side) {
  std::vector<double> sides;
  sides.reserve(boxes.size());
  for (const Rect& box : boxes) sides.push_back(box.*side);
  std::sort(sides.begin(), sides.end());
  return sides;
}

double count_below(const std::vector<double>& sorted, double bound) {
  return static_cast<double>(std::lower_bound(sorted.begin(), sorted.end(), bound) -
                             sorted.begin());
}

/// One dimension as a line: a cut is worth considering where an entry begins and just after one
/// ends.
struct AxisLine {
  std::vector<double> at;   ///< coordinate of each stop but the last, which is at infinity
  std::vector<Stop> stops;  ///< one more

  AxisLine(std::span<const Rect> boxes, std::span<const Rect> messages, double low, double high,
           Axis axis) {
    const auto begins = sorted_sides(boxes, axis.low), ends = sorted_sides(boxes, axis.high);
    const auto hits_begin = sorted_sides(messages, axis.low);
    const auto hits_end = sorted_sides(messages, axis.high);
    choose_stops(begins, ends, low, high);
    const auto middles = middles_of(boxes, low, high, axis);
    const double count = static_cast<double>(messages.size());
    const auto probability = [&](double hits, double x) {
      return smoothed(hits, count, high > low ? (std::min(x, high) - low) / (high - low) : 1);
    };
    stops.push_back({0, 0, 0, 0, 0});
    for (std::size_t i = 1; i < at.size(); ++i) {
      stops.push_back({count_below(begins, at[i]), count_below(ends, at[i]),
                       probability(count_below(hits_begin, at[i]), at[i]),
                       probability(count_below(hits_end, at[i]), at[i]),
                       count_below(middles, at[i])});
    }
    const double all = static_cast<double>(boxes.size());
    stops.push_back({all, all, 1, 1, all});
  }

  /// [AP §3.3.3]: as many middles in each slab, then local improvement.
  std::vector<double> lines(std::size_t slabs) const {
    Cuts cuts = even_cuts(stops, slabs);
    improve_cuts(stops, cuts);
    std::vector<double> chosen;
    for (std::size_t i = 1; i < cuts.size(); ++i) chosen.push_back(at[cuts[i]]);
    return chosen;
  }

 private:
  void choose_stops(const std::vector<double>& begins, const std::vector<double>& ends, double low,
                    double high) {
    at.push_back(low);
    const auto offer = [&](double x) {
      if (x > low && x <= high) at.push_back(x);
    };
    for (const double begin : begins) offer(begin);
    for (const double end : ends) {
      offer(std::nextafter(end, std::numeric_limits<double>::infinity()));
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
  }

  static std::vector<double> middles_of(std::span<const Rect> boxes, double low, double high,
                                        Axis axis) {
    std::vector<double> middles;
    middles.reserve(boxes.size());
    for (const Rect& box : boxes) {
      middles.push_back((std::max(box.*axis.low, low) + std::min(box.*axis.high, high)) / 2);
    }
    std::sort(middles.begin(), middles.end());
    return middles;
  }
};

double copies_of(const GridView& grid, std::span<const Rect> boxes) {
  double copies = 0;
  for (const Rect& box : boxes) {
    const CellRange range = grid.range_of(box);
    copies += (range.east - range.west + 1.0) * (range.north - range.south + 1.0);
  }
  return copies / static_cast<double>(boxes.size());
}

/// How many of the boxes lie in each cell: marks at the corners of their ranges, then summed up.
std::vector<double> count_cells(const GridView& grid, std::span<const Rect> boxes, double& dummy) {
  const std::uint32_t width = grid.columns() + 1;
  std::vector<double> counts(width * (grid.rows() + 1));
  for (const Rect& box : boxes) {
    if (covers(box, grid.region)) {
      ++dummy;
      continue;
    }
    const CellRange range = grid.range_of(box);
    ++counts[range.south * width + range.west];
    --counts[range.south * width + range.east + 1];
    --counts[(range.north + 1) * width + range.west];
    ++counts[(range.north + 1) * width + range.east + 1];
  }
  for (std::size_t i = 1; i < counts.size(); ++i) {
    if (i % width != 0) counts[i] += counts[i - 1];
  }
  for (std::size_t i = width; i < counts.size(); ++i) counts[i] += counts[i - width];
  return counts;
}

std::vector<double> slab_shares(std::span<const double> lines, double low, double high) {
  std::vector<double> shares;
  double from = low;
  for (const double line : lines) {
    shares.push_back((line - from) / (high - low));
    from = line;
  }
  shares.push_back(lines.empty() ? 1 : std::max(0.0, high - from) / (high - low));
  return shares;
}

/// [AP eq. 1] with p by messages of the past and by area [AP §3.3.1].
void weigh(GridPlan& plan, std::span<const Rect> boxes, std::span<const Rect> messages) {
  const GridView grid = plan.view();
  double dummy = 0, everywhere = 0;
  const std::vector<double> weights = count_cells(grid, boxes, dummy);
  const std::vector<double> hits = count_cells(grid, messages, everywhere);
  const auto widths = slab_shares(grid.x, grid.region.west, grid.region.east);
  const auto heights = slab_shares(grid.y, grid.region.south, grid.region.north);
  plan.cost = plan.copies = dummy;
  for (std::uint32_t row = 0; row < grid.rows(); ++row) {
    for (std::uint32_t column = 0; column < grid.columns(); ++column) {
      const std::size_t cell = row * (grid.columns() + 1) + column;
      plan.copies += weights[cell];
      plan.cost +=
          weights[cell] * smoothed(hits[cell] + everywhere, static_cast<double>(messages.size()),
                                   widths[column] * heights[row]);
    }
  }
  plan.copies /= static_cast<double>(boxes.size());
}

void draw(GridPlan& plan, const AxisLine& x, const AxisLine& y, std::size_t cells) {
  plan.x = x.lines(static_cast<std::size_t>(std::sqrt(static_cast<double>(cells))));
  plan.y = y.lines(cells / (plan.x.size() + 1));
  // One dimension may have nothing to cut: the other takes all.
  if (plan.y.empty()) plan.x = x.lines(cells);
}

}  // namespace

GridPlan partition_space(std::span<const Rect> boxes, std::span<const Rect> messages,
                         const Rect& space, std::size_t max_cells, double max_copies) {
  GridPlan plan{region_of(boxes, space), {}, {}, static_cast<double>(boxes.size()), 1};
  if (is_empty(plan.region)) return plan;
  const std::vector<Rect> looks = looks_at(boxes, plan.region);
  if (looks.empty()) return plan;
  const Rect& region = plan.region;
  const AxisLine x(looks, messages, region.west, region.east, kX);
  const AxisLine y(looks, messages, region.south, region.north, kY);
  for (std::size_t cells = max_cells; cells >= 2; cells /= 2) {
    draw(plan, x, y, cells);
    if (copies_of(plan.view(), looks) > max_copies) continue;
    weigh(plan, boxes, messages);
    return plan;
  }
  plan.x.clear();
  plan.y.clear();
  return plan;
}

}  // namespace nearcast::ap
