#include "nearcast/index/parts/r_tree/packing.h"

#include <algorithm>
#include <limits>

#include "nearcast/index/parts/r_tree/placement.h"

namespace nearcast {
namespace {

constexpr std::size_t kSampleSize = 512;  // boxes that decide along which side many are cut

struct Placed {
  Rect box;
  std::uint32_t position;
};

/// More than max_children / 2 in each of several groups, so none is below min_children.
std::size_t group_count(std::size_t boxes, const RTreeLimits& limits) {
  if (boxes <= limits.max_children) return 1;
  const std::size_t fill = limits.max_children - limits.max_children / 8;
  return (boxes + fill - 1) / fill;
}

/// Equal sides go by position: what cannot be told apart by place (everything world-wide) then lies
/// in the order it came, which is that of the store.
void cut_by(RectSide side, std::span<Placed> boxes, std::size_t cut) {
  std::nth_element(boxes.begin(), boxes.begin() + static_cast<std::ptrdiff_t>(cut), boxes.end(),
                   [side](const Placed& a, const Placed& b) {
                     const double x = a.box.*side, y = b.box.*side;
                     return x != y ? x < y : a.position < b.position;
                   });
}

double cost_of(std::span<const Placed> boxes) {
  Rect all = kNowhere;
  for (const Placed& placed : boxes) all = join(all, placed.box);
  return reach(all) * static_cast<double>(boxes.size());
}

class Halver {
 public:
  Halver(const Packing& packing, std::span<Placed> boxes) : packing_(packing), boxes_(boxes) {}

  void halve(std::size_t first_group, std::size_t end_group) {
    if (end_group - first_group < 2) return sort_by_position(first_group);
    const std::size_t middle = first_group + (end_group - first_group) / 2;
    const std::size_t begin = packing_.start(first_group);
    const std::size_t cut = packing_.start(middle) - begin;
    const std::span<Placed> range = boxes_.subspan(begin, packing_.start(end_group) - begin);
    cut_by(cheapest_side(range, cut), range, cut);
    halve(first_group, middle);
    halve(middle, end_group);
  }

 private:
  void sort_by_position(std::size_t group) {
    const auto begin = boxes_.begin();
    std::sort(begin + static_cast<std::ptrdiff_t>(packing_.start(group)),
              begin + static_cast<std::ptrdiff_t>(packing_.start(group + 1)),
              [](const Placed& a, const Placed& b) { return a.position < b.position; });
  }

  RectSide cheapest_side(std::span<const Placed> range, std::size_t cut) {
    sample_.clear();
    const std::size_t step = range.size() / kSampleSize + 1;
    for (std::size_t i = 0; i < range.size(); i += step) sample_.push_back(range[i]);
    const std::size_t sample_cut = sample_.size() * cut / range.size();
    RectSide cheapest = kRectSides[0];
    double least_cost = std::numeric_limits<double>::infinity();
    for (const RectSide side : kRectSides) {
      cut_by(side, sample_, sample_cut);
      const double cost = cost_of(std::span(sample_).first(sample_cut)) +
                          cost_of(std::span(sample_).subspan(sample_cut));
      if (cost >= least_cost) continue;
      least_cost = cost;
      cheapest = side;
    }
    return cheapest;
  }

  const Packing& packing_;
  std::span<Placed> boxes_;
  std::vector<Placed> sample_;
};

}  // namespace

Packing pack(std::span<const Rect> boxes, const RTreeLimits& limits) {
  Packing packing;
  packing.order.resize(boxes.size());
  packing.groups = group_count(boxes.size(), limits);
  std::vector<Placed> placed(boxes.size());
  for (std::uint32_t i = 0; i < boxes.size(); ++i) placed[i] = {boxes[i], i};
  Halver(packing, placed).halve(0, packing.groups);
  for (std::size_t i = 0; i < boxes.size(); ++i) packing.order[i] = placed[i].position;
  return packing;
}

}  // namespace nearcast
