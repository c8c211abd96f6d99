#include "nearcast/index/papers/ap_plus_tree/motion.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace nearcast::ap {
namespace {

constexpr std::uint32_t kRecent = 1 << 16;
constexpr int kMaxRounds = 100;

Point centre(const Rect& box) { return {(box.west + box.east) / 2, (box.south + box.north) / 2}; }

std::uint32_t cell_of(const Mover& mover, double rounds, const Rect& region, std::uint32_t side) {
  const auto slab = [&](double at, double from, double extent) {
    const double position = extent > 0 ? (at - from) / extent * side : 0;
    return static_cast<std::uint32_t>(std::clamp(position, 0.0, side - 1.0));
  };
  return slab(mover.at.lat + rounds * mover.step.lat, region.south, height(region)) * side +
         slab(mover.at.lon + rounds * mover.step.lon, region.west, width(region));
}

/// D_KL(w_old | w); half a mover more in each cell keeps it finite.
double divergence(std::span<const std::uint32_t> old, std::span<const std::uint32_t> now,
                  std::size_t movers) {
  const double total = static_cast<double>(movers) + 0.5 * static_cast<double>(old.size());
  double sum = 0;
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (old[i] != now[i]) sum += (old[i] + 0.5) / total * std::log((old[i] + 0.5) / (now[i] + 0.5));
  }
  return sum;
}

}  // namespace

void Motion::count(std::uint32_t& what) {
  if (++what < kRecent) return;
  moves_ = (moves_ + 1) / 2;  // rounded up: never back to 0
  messages_ /= 2;
}

void Motion::moved(SubscriptionId id, const Rect& from, const Rect& to) {
  count(moves_);
  if (steps_.size() <= raw(id)) steps_.resize(raw(id) + 1);
  const Point before = centre(from), after = centre(to);
  steps_[raw(id)] = {static_cast<float>(after.lon - before.lon),
                     static_cast<float>(after.lat - before.lat)};
}

void Motion::forget(SubscriptionId id) {
  if (raw(id) < steps_.size()) steps_[raw(id)] = {0, 0};
}

double rounds_until_drift(std::span<const Mover> movers, const Rect& region, std::uint32_t side,
                          double kl_threshold) {
  std::vector<std::uint32_t> old(side * side), now(side * side);
  for (const Mover& mover : movers) ++old[cell_of(mover, 0, region, side)];
  for (int round = 1; round < kMaxRounds; ++round) {
    std::fill(now.begin(), now.end(), 0);
    for (const Mover& mover : movers) ++now[cell_of(mover, round, region, side)];
    if (divergence(old, now, movers.size()) > kl_threshold) return round;
  }
  return kMaxRounds;
}

double moving_cost(std::span<const Mover> movers, const Rect& region, const GridCost& grid) {
  if (movers.empty()) return 0;
  const double side = std::max(1.0, std::floor(std::sqrt(grid.cells)));
  const double columns = side / std::max(width(region), 1e-12);
  const double rows = side / std::max(height(region), 1e-12);
  double passed = 0;  // Σ min(1, ζ)
  for (const Mover& mover : movers) {
    passed += std::min(1.0, std::abs(mover.step.lon) * columns + std::abs(mover.step.lat) * rows);
  }
  if (passed == 0) return 0;
  const double share = grid.entries / static_cast<double>(movers.size());
  const double choose = std::log2(grid.cells);
  const double updates = 2 * share * passed * grid.depth * choose;  // [AP eq. 9]
  const double height =
      std::max(0.0, std::log(grid.entries / grid.max_leaf_size) / std::log(grid.cells));
  const double rebuild =
      (grid.entries * choose + grid.entries * std::sqrt(grid.cells) + grid.cells * grid.keywords) *
      (height + 1);  // [AP eq. 12]
  return updates + rebuild / rounds_until_drift(movers, region, static_cast<std::uint32_t>(side),
                                                grid.kl_threshold);
}

}  // namespace nearcast::ap
