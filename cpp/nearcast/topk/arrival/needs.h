/// How much text does a subscription need, given its nearness? [Skype §5.1.1 equation 2, §5.2.3
/// equation 8]
///
///   λ_T = kScore / (1 − α) − α / (1 − α) · SSim,    λ_S = (kScore − (1 − α)) / α
///
/// Departs from the paper: α may be 0 or 1. A divisor is at least kLeastShare, which only ever
/// makes a bound weaker, as long as nearness is not negative: so bounds of nearness are cut at 0.
/// All numbers are rounded so that there are no false negatives.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "nearcast/topk/top_state.h"

namespace nearcast {

constexpr double kLeastShare = 1.0 / 1024;

inline float rounded_down(double value) {
  const auto near = static_cast<float>(value);
  return near <= value ? near : std::nextafter(near, -std::numeric_limits<float>::infinity());
}
inline float rounded_up(double value) {
  const auto near = static_cast<float>(value);
  return near >= value ? near : std::nextafter(near, std::numeric_limits<float>::infinity());
}

struct Needs {
  float score;     ///< kScore*: kScore / (1 − α)
  float alpha;     ///< α*: α / (1 − α)
  float nearness;  ///< λ_S

  Needs(double share, Units threshold) {
    // Half a unit less is rounded up to it; another half is more than all rounding errors.
    const double least = (threshold - 1) * 1e-9;
    const double text = std::max(1 - share, kLeastShare);
    score = rounded_down(least / text);
    alpha = rounded_up(share / text);
    nearness = rounded_down((least - (1 - share)) / std::max(share, kLeastShare));
  }
};

}  // namespace nearcast
