/// Untyped memory that grows in place.
///
/// Small regions live on the heap. Beyond 1 MiB a region owns a large range of *addresses* and
/// commits pages as it grows: nothing is ever copied again, so no single insert pays for the size
/// of the whole, and no memory is lost to doubling. A region can also start as a private mapping of
/// a snapshot: pages come from the file when they are touched, and writing to them changes only
/// this process.
#pragma once

#include <cstddef>
#include <utility>

#include "nearcast/base/archive.h"

namespace nearcast {

class Region {
 public:
  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  Region(Region&& other) noexcept { swap(other); }
  Region& operator=(Region&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Region();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

  /// Make room for `bytes`, keeping the first `used`. New memory is zero.
  void grow(std::size_t bytes, std::size_t used);
  void adopt(const Blob& blob);  ///< start as the content of a snapshot's blob

  void swap(Region& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    std::swap(reserved_, other.reserved_);
  }

 private:
  void release();
  void reserve_addresses(std::size_t bytes);  ///< at least so many; nothing is committed
  void move_to_more_addresses(std::size_t bytes);
  void commit(std::size_t bytes);

  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;  ///< bytes that may be touched
  std::size_t reserved_ = 0;  ///< bytes of addresses owned; 0: on the heap
};

}  // namespace nearcast
