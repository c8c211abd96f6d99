#include "nearcast/topk/expiry/skyband_costs.h"

#include <algorithm>
#include <cmath>

namespace nearcast {
namespace {

constexpr std::uint32_t kMost = 64;  ///< times k; a cost that asks for more was measured badly

double cost_of(double size, double k, const SkybandCosts& costs) {
  return size * (costs.held * skyband_size(size, k) +
                 costs.search / steps_until_short(size, k, costs.growth));
}

}  // namespace

double skyband_size(double size, double k) { return k * (1 + std::log(size / k)); }

double steps_until_short(double size, double k, double growth) {
  const double height = size - k + 1;  // above k − 1, where the walk ends
  const double barrier = 2 * size - k + 1;
  if (std::fabs(growth - 1) < 1e-3) return height * (2 * barrier - height + 1);
  const double down = 1 / (1 + growth);  // of a step
  // Σ over j = 1 … height of (1 − growth^(barrier − j + 1)) / (1 − growth), each 1/down.
  const double powers =
      std::pow(growth, barrier - height + 1) * (1 - std::pow(growth, height)) / (1 - growth);
  return (height - powers) / (1 - growth) / down;
}

std::uint32_t best_skyband_input(std::uint32_t k, const SkybandCosts& costs) {
  const std::uint64_t most = std::uint64_t{kMost} * k;
  std::uint64_t size = k, step = 1;
  double least = cost_of(static_cast<double>(size), k, costs);
  while (step > 0 && size < most) {
    const double next = cost_of(static_cast<double>(size + step), k, costs);
    if (next < least) {
      least = next;
      size += step;
      step *= 2;
    } else {
      step /= 2;
    }
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, 0x7FFFFFFFu));
}

}  // namespace nearcast
