/// What the steps of LFilter cost, relative to each other, as tools/calibrate_costs.py measured it.
/// Written by that program: change it by running it.
#pragma once

namespace nearcast {

/// A step of the quadtree's filter, in steps of the trie's.
constexpr double kCellCost = 0.35;
/// A step of pruning a list, in steps of verifying it.
constexpr double kPruneCost = 16.0;

}  // namespace nearcast
