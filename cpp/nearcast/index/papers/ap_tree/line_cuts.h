/// Where to cut a line so that the expected cost Σ weight · probability is small.
/// [AP §3.3.1 cost, §3.3.2 optimal and heuristic partition]
///
/// The line is the ordered keywords of a k-node or one dimension of an s-node. Pure functions:
/// prefix sums in, positions out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nearcast::ap {

/// A position where the line may be cut. All fields are sums over what lies before it, so none of
/// them falls along the line.
struct Stop {
  double begun;      ///< entries that begin before
  double ended;      ///< entries that lie wholly before
  double hit_begun;  ///< expected hits per message, likewise
  double hit_ended;
  double middle;  ///< entries whose middle lies before: what an even partition balances
};

using Line = std::span<const Stop>;

/// First stop of each interval, ascending; the first is 0, and the last interval ends with the
/// line.
using Cuts = std::vector<std::uint32_t>;

/// Cost of one interval [AP eq. 3].
inline double interval_cost(Line line, std::size_t from, std::size_t to) {
  return (line[to].begun - line[from].ended) * (line[to].hit_begun - line[from].hit_ended);
}

double total_cost(Line line, const Cuts& cuts);  ///< [AP eq. 1]

/// At most `most` intervals of similar weight; something heavy stays alone.
Cuts even_cuts(Line line, std::size_t most);

/// Moves each cut to the cheapest place between its neighbours [AP Alg. 3, lines 2–5].
void improve_cuts(Line line, Cuts& cuts);

/// The cheapest `most` intervals [AP Alg. 2].
Cuts optimal_cuts(Line line, std::size_t most);

}  // namespace nearcast::ap
