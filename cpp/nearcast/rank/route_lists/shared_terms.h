/// Numbers of 16 bits for the terms of subscriptions: alpha and threshold. Subscriptions with equal
/// terms share a number, which is free again when the last of them is erased.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/model/rank_score.h"

namespace nearcast {

class SharedTerms {
 public:
  static constexpr std::uint16_t kNone = 0xFFFF;

  const RankTerms& operator[](std::uint16_t number) const { return terms_[number]; }

  /// One more subscription has these terms. kNone: they differ from all, and no number is free.
  std::uint16_t take(const RankTerms& terms);
  void give_back(std::uint16_t number);  ///< one subscription less has them
  void clear();

  std::size_t memory_bytes() const;

 private:
  using Numbers = std::map<std::pair<double, double>, std::uint16_t>;

  static std::pair<double, double> key_of(const RankTerms& terms) {
    return {terms.alpha, terms.threshold};
  }

  Array<RankTerms> terms_;
  Array<std::uint32_t> uses_;  ///< 0: the number is free
  std::vector<std::uint16_t> free_;
  Numbers numbers_;  ///< to find them again
};

}  // namespace nearcast
