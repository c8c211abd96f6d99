/// An array of fixed capacity that checks: appending to a full one is an internal error, never a
/// write past its end. Made for scratch memory on the stack, so nothing is set to zero.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "nearcast/base/check_index.h"

namespace nearcast {

template <typename T, std::size_t kCapacity>
class BoundedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  BoundedArray() {}  // NOLINT(modernize-use-equals-default): the items stay uninitialised

  static constexpr std::size_t capacity() { return kCapacity; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool is_full() const { return size_ == kCapacity; }
  void clear() { size_ = 0; }

  void push_back(const T& item) {
    if (size_ == kCapacity) [[unlikely]]
      out_of_range(size_, kCapacity);
    items_[size_++] = item;
  }

  T& back() {
    check_index(0, size_);
    return items_[size_ - 1];
  }
  void pop_back() {
    check_index(0, size_);
    --size_;
  }

  T& operator[](std::size_t i) {
    check_index(i, size_);
    return items_[i];
  }
  const T& operator[](std::size_t i) const {
    check_index(i, size_);
    return items_[i];
  }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
  std::span<T> view() { return {items_, size_}; }
  std::span<const T> view() const { return {items_, size_}; }

 private:
  union {  // a member of a union has no initialiser of its own
    T items_[kCapacity];
  };
  std::size_t size_ = 0;
};

}  // namespace nearcast
