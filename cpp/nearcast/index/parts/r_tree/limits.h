/// How many children a node of an R-tree may have, as every index on an R-tree takes it from its
/// parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "nearcast/index/parameters.h"

namespace nearcast {

///   paper    here            meaning
///   b        min_children    fewer, and the node is dissolved; the root may have fewer
///   B        max_children    more, and the node is split
struct RTreeLimits {
  std::uint32_t min_children = 25;
  std::uint32_t max_children = 50;

  friend bool operator==(const RTreeLimits&, const RTreeLimits&) = default;
};

std::vector<ParameterSpec> r_tree_parameters();
/// Throws an invalid-parameter error unless both halves of a split node can have min_children.
RTreeLimits r_tree_limits(const Parameters& parameters);

}  // namespace nearcast
