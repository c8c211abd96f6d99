#include "nearcast/model/cells.h"

#include <algorithm>
#include <bit>

namespace nearcast {
namespace {

/// Calls visit(level, number) for the cells of at least this level that make up the range.
template <typename Visit>
void cut(std::uint64_t low, std::uint64_t high, int level, Visit&& visit) {
  low >>= level;
  high >>= level;
  while (low <= high) {
    // The largest cell that begins at `low` and ends by `high`.
    int up = low == 0 ? 63 - level : std::min(63 - level, std::countr_zero(low));
    while (up > 0 && low + ((std::uint64_t{1} << up) - 1) > high) --up;
    visit(level + up, low >> up);
    const std::uint64_t last = low + ((std::uint64_t{1} << up) - 1);
    if (last >= high) return;
    low = last + 1;
  }
}

}  // namespace

std::vector<Cell> cells_of(std::uint64_t low, std::uint64_t high) {
  std::vector<Cell> cells;
  for (int level = 0; level < 64; ++level) {
    cells.clear();
    cut(low, high, level, [&](int at, std::uint64_t number) { cells.push_back({at, number}); });
    if (cells.size() <= kMostCells) break;
  }
  return cells;
}

}  // namespace nearcast
