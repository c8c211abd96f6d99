/// A vector for answers, which may be large: elements start unwritten, and memory comes in huge
/// pages where the system has them. With small pages, asking for memory costs more than writing to
/// it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace nearcast {

template <typename T>
struct ColumnAllocator {
  using value_type = T;
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;

  ColumnAllocator() = default;
  template <typename U>
  ColumnAllocator(const ColumnAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    const bool is_large = bytes >= 2 * kHugePage;
    const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* memory = is_large ? std::aligned_alloc(kHugePage, whole) : std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (is_large) ::madvise(memory, whole, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }

  template <typename U>
  void construct(U*) noexcept {
    static_assert(std::is_trivially_copyable_v<U>);
  }
  template <typename U, typename First, typename... More>
  void construct(U* at, First&& first, More&&... more) {
    ::new (static_cast<void*>(at)) U(std::forward<First>(first), std::forward<More>(more)...);
  }
  bool operator==(const ColumnAllocator&) const { return true; }
};

template <typename T>
using ColumnVector = std::vector<T, ColumnAllocator<T>>;

}  // namespace nearcast
