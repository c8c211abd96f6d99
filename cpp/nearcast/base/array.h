/// A growable array of plain values that never moves once it is large and can be mapped from a
/// snapshot (base/region.h). Elements are trivially copyable; new ones are zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "nearcast/base/archive.h"
#include "nearcast/base/check_index.h"
#include "nearcast/base/region.h"

namespace nearcast {

template <typename T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return reinterpret_cast<T*>(region_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(region_.data()); }
  T& operator[](std::size_t i) {
    check_index(i, size_);
    return data()[i];
  }
  const T& operator[](std::size_t i) const {
    check_index(i, size_);
    return data()[i];
  }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& back() {
    check_index(0, size_);
    return data()[size_ - 1];
  }
  std::span<const T> view() const { return {data(), size_}; }

  void push_back(const T& item) {
    const T copy = item;  // `item` may lie in this very array
    resize(size_ + 1);
    data()[size_ - 1] = copy;
  }
  void pop_back() {
    check_index(0, size_);
    --size_;
  }
  void clear() { size_ = 0; }

  /// New elements are zero.
  void resize(std::size_t count) {
    if (count > size_) {
      region_.grow(count * sizeof(T), size_ * sizeof(T));
      // Memory never used is zero already: a large table starts without being touched.
      const std::size_t used = std::min(count, used_);
      if (used > size_)
        std::memset(static_cast<void*>(data() + size_), 0, (used - size_) * sizeof(T));
      used_ = std::max(used_, count);
    }
    size_ = count;
  }
  void reserve(std::size_t count) { region_.grow(count * sizeof(T), size_ * sizeof(T)); }

  std::size_t memory_bytes() const { return size_ * sizeof(T); }

  void save(ArchiveWriter& out) const { out.blob(data(), size_ * sizeof(T), sizeof(T)); }
  void load(ArchiveReader& in) {
    const Blob blob = in.blob(sizeof(T));
    region_.adopt(blob);
    size_ = used_ = blob.count / sizeof(T);
  }

 private:
  Region region_;
  std::size_t size_ = 0;
  std::size_t used_ = 0;  ///< elements from here on were never written and are still zero
};

}  // namespace nearcast
