/// A vector for answers, which may be large (column_memory.h): elements start unwritten.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearcast/base/column_memory.h"

namespace nearcast {

template <typename T>
struct ColumnAllocator {
  using value_type = T;
  ColumnAllocator() = default;
  template <typename U>
  ColumnAllocator(const ColumnAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* memory = is_large(bytes) ? ColumnMemory::take(bytes) : std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    is_large(bytes) ? ColumnMemory::give(memory, bytes) : std::free(memory);
  }

  template <typename U>
  void construct(U*) noexcept {
    static_assert(std::is_trivially_copyable_v<U>);
  }
  template <typename U, typename First, typename... More>
  void construct(U* at, First&& first, More&&... more) {
    ::new (static_cast<void*>(at)) U(std::forward<First>(first), std::forward<More>(more)...);
  }
  bool operator==(const ColumnAllocator&) const { return true; }

 private:
  static bool is_large(std::size_t bytes) { return bytes >= ColumnMemory::kLeast; }
};

template <typename T>
using ColumnVector = std::vector<T, ColumnAllocator<T>>;

}  // namespace nearcast
