#include "nearcast/index/ours/sized_lists/arrange.h"

#include <cmath>

#include "nearcast/index/ours/sized_lists/sized_lists.h"
#include "nearcast/index/ours/sized_lists/tile.h"

namespace nearcast {
namespace {

struct Row {
  std::uint32_t number;
  float x, y;  ///< twice its centre
};

/// The list of each row: 0 without keywords, otherwise 1 + its rarest token among these rows.
std::vector<std::uint32_t> lists_of(const ClauseRows& rows) {
  std::vector<std::uint32_t> frequencies, lists;
  for (const Token token : rows.tokens) {
    if (frequencies.size() <= raw(token)) frequencies.resize(raw(token) + 1);
    ++frequencies[raw(token)];
  }
  lists.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::uint32_t list = 0, least = ~0u;
    for (const Token token : rows.tokens_of(row)) {
      if (frequencies[raw(token)] >= least) continue;
      least = frequencies[raw(token)];
      list = raw(token) + 1;
    }
    lists.push_back(list);
  }
  return lists;
}

/// A row without an area has no centre; any will do, but the order needs one.
float sum(double a, double b) { return std::isnan(a + b) ? 0.0f : static_cast<float>(a + b); }

}  // namespace

std::vector<std::uint32_t> SizedLists::arrange(const ClauseRows& rows) const {
  return sized_lists::arrange_by(lists_of(rows), rows);
}

std::vector<std::uint32_t> sized_lists::arrange_by(std::span<const std::uint32_t> lists,
                                                   const ClauseRows& rows) {
  std::vector<std::uint32_t> starts, order(rows.size());
  for (const std::uint32_t list : lists) {
    if (starts.size() <= list + 1) starts.resize(list + 2);
    ++starts[list + 1];
  }
  for (std::size_t list = 1; list < starts.size(); ++list) starts[list] += starts[list - 1];
  std::vector<std::uint32_t> next(starts);
  for (std::uint32_t row = 0; row < rows.size(); ++row) order[next[lists[row]]++] = row;

  std::vector<Row> own;
  for (std::size_t list = 0; list + 1 < starts.size(); ++list) {
    const auto part = std::span(order).subspan(starts[list], starts[list + 1] - starts[list]);
    if (part.size() <= sized_lists::kBlockSize || rows.west.empty()) continue;
    own.clear();
    for (const std::uint32_t row : part) {
      own.push_back(
          {row, sum(rows.west[row], rows.east[row]), sum(rows.south[row], rows.north[row])});
    }
    std::size_t at = 0;
    sized_lists::tile(
        std::span(own), sized_lists::kBlockSize, [](const Row& row) { return row.x; },
        [](const Row& row) { return row.y; },
        [&](std::span<const Row> run) {
          for (const Row& row : run) part[at++] = row.number;
        });
  }
  return order;
}

}  // namespace nearcast
