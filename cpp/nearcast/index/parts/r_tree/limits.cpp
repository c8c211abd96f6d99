#include "nearcast/index/parts/r_tree/limits.h"

#include <string>

#include "nearcast/base/errors.h"

namespace nearcast {

std::vector<ParameterSpec> r_tree_parameters() {
  const RTreeLimits standard;
  return {
      whole("min_children", standard.min_children, 2, 500,
            "a node with fewer children is dissolved"),
      whole("max_children", standard.max_children, 4, 1000, "a node with more children is split")};
}

RTreeLimits r_tree_limits(const Parameters& parameters) {
  const RTreeLimits limits{static_cast<std::uint32_t>(parameters.count("min_children")),
                           static_cast<std::uint32_t>(parameters.count("max_children"))};
  if (limits.min_children > limits.max_children / 2) {
    throw Error(ErrorKind::kInvalidParameter, "R-tree: parameter min_children",
                std::to_string(limits.min_children),
                "at most " + std::to_string(limits.max_children / 2) +
                    ", half of max_children = " + std::to_string(limits.max_children));
  }
  return limits;
}

}  // namespace nearcast
