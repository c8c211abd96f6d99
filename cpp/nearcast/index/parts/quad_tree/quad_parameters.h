/// The parameters that all quadtree indexes have.
#pragma once

#include "nearcast/index/parameters.h"
#include "nearcast/index/parts/quad_tree/quad_forest.h"

namespace nearcast {

inline std::vector<ParameterSpec> quad_parameters(double max_leaf, double copy_cost) {
  return {whole("max_leaf", max_leaf, 1, 1e6, "a cell with more entries is divided"),
          whole("max_depth", 18, 0, 24, "cells so deep are never divided"),
          real("copy_cost", copy_cost, 0, 1e6,
               "verifications per million messages that one more copy of an entry must save")};
}

inline QuadLimits quad_limits(const Parameters& parameters) {
  return {static_cast<std::uint32_t>(parameters.count("max_leaf")),
          static_cast<std::uint32_t>(parameters.count("max_depth"))};
}

/// In verifications per message, as the cost rule counts.
inline double copy_cost(const Parameters& parameters) {
  return parameters.number("copy_cost") / 1e6;
}

}  // namespace nearcast
