/// A growing array for inner loops: reserve room once, write without checks, then say where the
/// written part ends.
#pragma once

#include <cstddef>
#include <vector>

#include "nearcast/base/check_index.h"

namespace nearcast {

template <typename T>
class Stack {
 public:
  std::size_t size() const { return size_; }
  const T* data() const { return items_.data(); }
  const T& operator[](std::size_t i) const {
    check_index(i, size_);
    return items_[i];
  }
  void clear() { size_ = 0; }

  /// Where the next `count` items may be written.
  T* room(std::size_t count) {
    if (size_ + count > items_.size()) items_.resize(2 * (size_ + count) + 64);
    return items_.data() + size_;
  }
  /// Items up to here have been written, at most as many as there was room for.
  void end_at(const T* end) {
    size_ = static_cast<std::size_t>(end - items_.data());
    check_end(size_, items_.size());
  }

 private:
  std::vector<T> items_;
  std::size_t size_ = 0;
};

}  // namespace nearcast
