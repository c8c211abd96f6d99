/// Dyadic cells that cover a range of numbers, few and not much larger than the range.
///
/// A range [low, high] of ordered keys (model/attribute.h) is made of as few cells as possible,
/// after its ends are rounded outwards until kMostCells are enough. Keys of doubles have the
/// exponent above the digits, so ends are rounded relative to their size.
#pragma once

#include <cstdint>
#include <vector>

#include "nearcast/model/term_words.h"

namespace nearcast {

constexpr std::size_t kMostCells = 8;

/// Cells that hold every key from low to high, in ascending order.
std::vector<Cell> cells_of(std::uint64_t low, std::uint64_t high);

}  // namespace nearcast
