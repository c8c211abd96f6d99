/// Which group of similar α does a subscription belong to? [Skype §5.2.1]
///
/// Borders are quantiles of the α seen so far. They stay while entries are filed by them; when the
/// owner draws new borders, it files everything anew.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace nearcast::igpt {

class AlphaGroups {
 public:
  explicit AlphaGroups(std::uint32_t groups) : groups_(groups) { draw(); }

  std::uint32_t size() const { return groups_; }
  std::uint32_t group_of(double alpha) const { return group_of_[bin_of(alpha)]; }
  void add(double alpha) { ++counts_[bin_of(alpha)], ++size_; }
  void remove(double alpha) { --counts_[bin_of(alpha)], --size_; }
  /// Are there twice as many as when borders were drawn?
  bool is_outgrown() const { return groups_ > 1 && size_ >= 2 * drawn_for_; }

  void draw() {
    drawn_for_ = std::max<std::size_t>(size_, kFewest);
    std::size_t below = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      const double place = size_ == 0 ? (bin + 0.5) / kBins
                                      : (static_cast<double>(below) + counts_[bin] / 2.0) /
                                            static_cast<double>(size_);
      group_of_[bin] = static_cast<std::uint8_t>(std::min<double>(place * groups_, groups_ - 1));
      below += counts_[bin];
    }
  }

 private:
  static constexpr std::size_t kBins = 256, kFewest = 64;
  static std::size_t bin_of(double alpha) {
    return std::min(static_cast<std::size_t>(alpha * kBins), kBins - 1);
  }

  std::uint32_t groups_;
  std::size_t size_ = 0, drawn_for_ = kFewest;
  std::array<std::uint32_t, kBins> counts_{};
  std::array<std::uint8_t, kBins> group_of_{};
};

}  // namespace nearcast::igpt
