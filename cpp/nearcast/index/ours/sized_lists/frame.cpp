#include "nearcast/index/ours/sized_lists/frame.h"

#include <vector>

namespace nearcast::sized_lists {

Axis::Axis(double low, double high)
    : low_(low), segments_per_unit_(kSegments / (high - low)), first_{} {
  fit({});
}

void Axis::fit(std::span<const double> values) {
  std::vector<double> share(kSegments, values.empty() ? 1.0 / kSegments : 0.5 / kSegments);
  for (const double value : values) {
    const double position = (value - low_) * segments_per_unit_;
    const auto segment = position <= 0               ? 0
                         : position >= kSegments - 1 ? kSegments - 1
                                                     : static_cast<std::uint32_t>(position);
    share[segment] += 0.5 / static_cast<double>(values.size());
  }
  // Every segment has one cell at least; the others are divided by share.
  double sum = 0;
  for (std::uint32_t i = 0; i < kSegments; ++i) {
    first_[i] = static_cast<Cell>(i + sum * (kLastCell + 1 - kSegments));
    sum += share[i];
  }
  first_[kSegments] = kLastCell + 1;
}

}  // namespace nearcast::sized_lists
