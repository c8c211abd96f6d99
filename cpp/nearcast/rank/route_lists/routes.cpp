#include "nearcast/rank/route_lists/routes.h"

namespace nearcast {

void RankRoutes::find(std::span<const Token> tokens, std::span<const double> weights, double total,
                      const RankTerms& terms) {
  tokens_ = tokens;
  weights_ = weights;
  near_.clear();
  far_.clear();
  const TextNeeds needs(terms);
  if (needs.without_contact <= 0) {  // any message, at any place
    far_.push_back({kUnknownToken, kUnknownToken});
    return;
  }
  const std::size_t far = prefix_length(weights, total, needs.without_contact);
  const double far_needed = needs.without_contact * total;
  add_far(far, far_needed);
  if (needs.with_contact <= 0) {
    near_.push_back({kUnknownToken, kUnknownToken});
    return;
  }
  const std::size_t near = prefix_length(weights, total, needs.with_contact);
  add_near(near, needs.with_contact * total, far, far_needed);
}

std::size_t RankRoutes::last_second(std::size_t first, double needed) const {
  if (weights_[first] >= needed) return first;
  double rest = 0;
  std::size_t last = weights_.size() - 1;
  while (last > first && weights_[first] + rest + weights_[last] < needed) rest += weights_[last--];
  return last;
}

void RankRoutes::add_far(std::size_t prefix, double needed) {
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < prefix; ++i) pairs += last_second(i, needed) - i;
  has_far_pairs_ = pairs <= kMaxPairs;
  for (std::size_t i = 0; i < prefix; ++i) {
    const std::size_t last = has_far_pairs_ ? last_second(i, needed) : i;
    if (last == i) far_.push_back({tokens_[i], kUnknownToken});
    for (std::size_t j = i + 1; j <= last; ++j) far_.push_back({tokens_[i], tokens_[j]});
  }
}

void RankRoutes::add_near(std::size_t prefix, double needed, std::size_t far_prefix,
                          double far_needed) {
  for (std::size_t i = 0; i < prefix; ++i) {
    const std::size_t last = last_second(i, needed);
    if (i < far_prefix) {
      const std::size_t far_last = has_far_pairs_ ? last_second(i, far_needed) : i;
      // The far routes of this token lead to all that its near ones would.
      if (far_last == i || (last != i && far_last == last)) continue;
    }
    near_.push_back({tokens_[i], last == i + 1 ? tokens_[last] : kUnknownToken});
  }
}

}  // namespace nearcast
