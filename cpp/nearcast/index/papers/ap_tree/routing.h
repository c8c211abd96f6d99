/// Which children does an entry belong to, and which must a message visit? Building, updating,
/// matching and checking all use these functions, so they cannot disagree.
#pragma once

#include "nearcast/index/papers/ap_tree/ap_tree.h"

namespace nearcast {

/// The keyword at `offset` of an item whose positions begin here; kUnplaced if it has fewer.
inline Position keyword_at(const Position* positions, std::size_t offset) {
  while (offset > 0 && *positions != TokenOrder::kUnplaced) --offset, ++positions;
  return *positions;
}

inline std::uint32_t ApTree::slot_of_keyword(const ap::Node& node, Position keyword) const {
  if (keyword == TokenOrder::kUnplaced) return node.dummy();
  const ap::CutsView view = cuts(node);
  const std::uint32_t cut = view.cut_of(keyword);
  if (!options_.keeps_messages) return cut;
  return view.lowers[cut] <= keyword && keyword <= view.uppers[cut] ? cut : node.dummy();
}

/// Calls see(slot) for each child that holds an item with this box and this keyword at the node's
/// offset. See may change the tree: nothing of it is held here while see runs.
template <typename See>
void ApTree::for_each_slot(const ap::Node& node, const Rect& box, Position keyword,
                           See&& see) const {
  const std::uint32_t dummy = node.dummy();
  if (node.kind == ap::NodeKind::kKeyword) {
    see(slot_of_keyword(node, keyword));
    return;
  }
  const ap::GridView cells = grid(node);
  if (covers(box, cells.region)) {
    see(dummy);
    return;
  }
  const ap::CellRange range = cells.range_of(box);
  const std::uint32_t columns = node.grid.columns;
  for (std::uint32_t row = range.south; row <= range.north; ++row) {
    for (std::uint32_t column = range.west; column <= range.east; ++column) {
      see(row * columns + column);
    }
  }
}

/// Calls see(cut, first_token) for each cut that one of the positions hits [AP Alg. 1, lines 5–8].
template <typename See>
void for_each_cut_hit(const ap::CutsView& cuts, std::span<const Position> positions,
                      std::uint32_t first_token, See&& see) {
  const Position* lower = cuts.lowers.data();
  const Position* const end = lower + cuts.lowers.size();
  for (std::uint32_t i = first_token; i < positions.size(); ++i) {
    lower = std::upper_bound(lower, end, positions[i]);
    const auto below = static_cast<std::uint32_t>(lower - cuts.lowers.data());
    if (below == 0 || positions[i] > cuts.uppers[below - 1]) continue;
    // Tokens ascend, so all hits of one cut are adjacent and the first is the smallest: the
    // position after it is the one that cannot skip an entry.
    see(below - 1, i + 1);
    while (i + 1 < positions.size() && positions[i + 1] <= cuts.uppers[below - 1]) ++i;
  }
}

/// Calls see(cell) for each cell that the place touches.
template <typename See>
void for_each_cell_hit(const ap::GridView& grid, const Place& place, See&& see) {
  const ap::CellRange first = grid.range_of(place.part[0]);
  for (int part = 0; part < place.parts; ++part) {
    const ap::CellRange range = part == 0 ? first : grid.range_of(place.part[part]);
    for (std::uint32_t row = range.south; row <= range.north; ++row) {
      for (std::uint32_t column = range.west; column <= range.east; ++column) {
        // A cell that both parts touch is seen once: twice would double the work at every level.
        if (part == 1 && first.contains(column, row)) continue;
        see(row * grid.columns() + column);
      }
    }
  }
}

/// Calls see(slot, first_token) for each child that a message must visit [AP Alg. 1].
template <typename See>
void ApTree::for_each_hit(const ap::Node& node, std::span<const Position> positions,
                          const Place& place, std::uint32_t first_token, See&& see) const {
  if (node.kind == ap::NodeKind::kKeyword) {
    for_each_cut_hit(cuts(node), positions, first_token, see);
  } else {
    for_each_cell_hit(grid(node), place, [&](std::uint32_t cell) { see(cell, first_token); });
  }
  see(node.dummy(), first_token);
}

}  // namespace nearcast
