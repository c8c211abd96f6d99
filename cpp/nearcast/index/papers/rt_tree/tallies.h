/// How many tokens of an entry are still to be found? A small hash table that lives for one
/// message. [Rt §5.2 hash map M of occurrence numbers]
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nearcast/base/hash.h"
#include "nearcast/base/ids.h"

namespace nearcast {

/// The table's memory, which is kept between messages.
struct TallyCells {
  std::vector<std::uint64_t> cells;
};

class Tallies {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFu;

  explicit Tallies(TallyCells& memory) : cells_(memory.cells) { cells_.assign(kSmallest, 0); }

  void insert(EntryId entry, std::uint32_t missing) {  ///< is not there; missing > 0
    if (++used_ * 2 > cells_.size()) grow();
    cells_[place_of(key_of(entry))] = key_of(entry) << kCountBits | missing;
  }

  /// One more token of the entry was found: how many are missing now? kAbsent: it is not there.
  std::uint32_t count_down(EntryId entry) {
    std::uint64_t& cell = cells_[place_of(key_of(entry))];
    return cell == 0 ? kAbsent : static_cast<std::uint32_t>(--cell & kAbsent);
  }

 private:
  static constexpr std::size_t kSmallest = 64;
  static constexpr int kCountBits = 16;  // a clause has 8191 tokens at most

  static std::uint64_t key_of(EntryId entry) { return std::uint64_t{raw(entry)} + 1; }
  std::size_t place_of(std::uint64_t key) const {
    const std::size_t mask = cells_.size() - 1;
    std::size_t at = hash_of(key) & mask;
    while (cells_[at] != 0 && cells_[at] >> kCountBits != key) at = (at + 1) & mask;
    return at;
  }

  /// The old cells are copied behind the new ones, and from there to their new places.
  void grow() {
    const std::size_t old = cells_.size(), size = 2 * old;
    cells_.resize(size + old);
    for (std::size_t i = 0; i < old; ++i) {
      cells_[size + i] = cells_[i];
      cells_[i] = 0;
    }
    for (std::size_t i = size; i < size + old; ++i) {
      if (cells_[i] == 0) continue;
      std::size_t at = hash_of(cells_[i] >> kCountBits) & (size - 1);
      while (cells_[at] != 0) at = (at + 1) & (size - 1);
      cells_[at] = cells_[i];
    }
    cells_.resize(size);
  }

  std::vector<std::uint64_t>& cells_;
  std::size_t used_ = 0;
};

}  // namespace nearcast
