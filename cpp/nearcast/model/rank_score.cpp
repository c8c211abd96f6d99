#include "nearcast/model/rank_score.h"

#include <algorithm>

namespace nearcast {
namespace {

/// One dimension of what two boxes share; 0 also for boxes that only touch or lie apart.
double shared_length(double a_low, double a_high, double b_low, double b_high) {
  return std::max(0.0, std::min(a_high, b_high) - std::max(a_low, b_low));
}

bool covers_wholly(const Place& outer, const Place& inner) {
  for (int i = 0; i < inner.parts; ++i) {
    const bool is_covered = covers(outer.part[0], inner.part[i]) ||
                            (outer.parts == 2 && covers(outer.part[1], inner.part[i]));
    if (!is_covered) return false;
  }
  return true;
}

}  // namespace

double spatial_similarity(const Place& area, const Place& place) {
  if (place.is_point) return touches(place.part[0], area) ? 1 : 0;
  // Both parts of an area reach from the same south to the same north.
  const double tall = height(area.part[0]);
  const double wide = width(area.part[0]) + (area.parts == 2 ? width(area.part[1]) : 0);
  if (tall == 0 || wide == 0) return covers_wholly(place, area) ? 1 : 0;
  double shared_wide = 0;
  for (int i = 0; i < area.parts; ++i) {
    for (int j = 0; j < place.parts; ++j) {
      shared_wide += shared_length(area.part[i].west, area.part[i].east, place.part[j].west,
                                   place.part[j].east);
    }
  }
  // A message's parts, too, share south and north.
  const double shared_tall = shared_length(area.part[0].south, area.part[0].north,
                                           place.part[0].south, place.part[0].north);
  const double size = wide * tall;
  // One division is exact where the share is exact; two divisions are for areas so small that their
  // size would be rounded to 0.
  constexpr double kTiny = 1e-200;
  if (size < kTiny) return (shared_wide / wide) * (shared_tall / tall);
  return shared_wide * shared_tall / size;
}

double textual_similarity(TokenSpan wanted, double weight, TokenSpan said,
                          const TokenWeights& weights) {
  double common = 0;
  for (const Token token : wanted) {
    const auto found = std::lower_bound(said.begin(), said.end(), token);
    if (found == said.end()) break;  // tokens ascend
    if (*found == token) common += weights[token];
    said = {found, said.end()};
  }
  return common / weight;
}

}  // namespace nearcast
