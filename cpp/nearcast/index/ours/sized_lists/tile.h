/// Sort-tile-recursive: puts items in an order in which neighbours in the plane are mostly
/// adjacent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace nearcast::sized_lists {

/// Reorders items and calls use(run) for runs of `size` of them.
template <typename Item, typename X, typename Y, typename Use>
void tile(std::span<Item> items, std::size_t size, X&& x_of, Y&& y_of, Use&& use) {
  std::sort(items.begin(), items.end(),
            [&](const Item& a, const Item& b) { return x_of(a) < x_of(b); });
  const std::size_t runs = (items.size() + size - 1) / size;
  const auto slices = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(runs))));
  const std::size_t slice = (runs + slices - 1) / slices * size;
  for (std::size_t start = 0; start < items.size(); start += slice) {
    const auto part = items.subspan(start, std::min(slice, items.size() - start));
    std::sort(part.begin(), part.end(),
              [&](const Item& a, const Item& b) { return y_of(a) < y_of(b); });
    for (std::size_t i = 0; i < part.size(); i += size)
      use(part.subspan(i, std::min(size, part.size() - i)));
  }
}

}  // namespace nearcast::sized_lists
