/// Large blocks of memory for answers, in huge pages where the system has them.
///
/// The system clears every page before it hands it out, which can cost more than finding what is
/// written there. So a few blocks are kept for the next batch: sizes come in steps of 2ⁿ and
/// 1.5 · 2ⁿ huge pages, and a batch like the last one takes a block of the same size.
#pragma once

#include <cstddef>

namespace nearcast {

class ColumnMemory {
 public:
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;
  static constexpr std::size_t kLeast = 2 * kHugePage;  ///< less is left to malloc
  static constexpr std::size_t kMostKept = std::size_t{256} << 20;

  static void* take(std::size_t bytes);                       ///< null: the system has none left
  static void give(void* block, std::size_t bytes) noexcept;  ///< the size given to take()
};

}  // namespace nearcast
