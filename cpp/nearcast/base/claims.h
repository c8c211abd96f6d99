/// Checks of what was read from a file, before anything uses it.
///
/// A structure in a snapshot is sound if every number in it stays inside what it points into and no
/// place has two owners: then no later change can write over something that is in use. Claims finds
/// both in one pass: every list, record and free place claims what it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nearcast/base/errors.h"

namespace nearcast {

/// Throws a snapshot error unless the claim about the file's contents holds.
inline void expect(bool holds, const char* what) {
  if (holds) return;
  throw Error(ErrorKind::kSnapshot, "snapshot: its contents do not fit together", what,
              "what nearcast writes", "was it changed after it was saved?");
}

class Claims {
 public:
  explicit Claims(std::size_t places) : places_(places), bits_((places + 63) / 64) {}

  /// Throws a snapshot error if a place is outside or has an owner already.
  void claim(std::uint64_t start, std::uint64_t count, const char* what) {
    expect(start <= places_ && count <= places_ - start, what);
    while (count > 0) {
      const std::uint64_t first = start % 64, taken = count < 64 - first ? count : 64 - first;
      const std::uint64_t mask = (taken == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << taken) - 1)
                                 << first;
      expect((bits_[start / 64] & mask) == 0, what);
      bits_[start / 64] |= mask;
      start += taken;
      count -= taken;
    }
  }
  void claim(std::uint64_t place, const char* what) { claim(place, 1, what); }
  template <typename Numbers>
  void claim_all(const Numbers& places, const char* what) {
    for (const auto place : places) claim(place, what);
  }
  bool has(std::uint64_t place) const {
    return place < places_ && (bits_[place / 64] >> (place % 64) & 1) != 0;
  }

 private:
  std::size_t places_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace nearcast
