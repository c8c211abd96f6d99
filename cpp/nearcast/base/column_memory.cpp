#include "nearcast/base/column_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "nearcast/base/fork_guard.h"

namespace nearcast {
namespace {

struct Block {
  void* start = nullptr;
  std::size_t bytes = 0;
};

InnerMutex mutex;
std::array<Block, 8> kept;
std::size_t kept_bytes = 0;

std::size_t rounded(std::size_t bytes) {
  const std::size_t pages = (bytes + ColumnMemory::kHugePage - 1) / ColumnMemory::kHugePage;
  const std::size_t above = std::bit_ceil(pages);
  return (above / 4 * 3 >= pages ? above / 4 * 3 : above) * ColumnMemory::kHugePage;
}

}  // namespace

void* ColumnMemory::take(std::size_t bytes) {
  const std::size_t whole = rounded(bytes);
  {
    const std::lock_guard lock(mutex);
    const auto found =
        std::find_if(kept.begin(), kept.end(), [&](const Block& b) { return b.bytes == whole; });
    if (found != kept.end()) {
      kept_bytes -= whole;
      return std::exchange(*found, {}).start;
    }
  }
  void* block = std::aligned_alloc(kHugePage, whole);
#ifdef MADV_HUGEPAGE
  if (block != nullptr) ::madvise(block, whole, MADV_HUGEPAGE);
#endif
  return block;
}

void ColumnMemory::give(void* block, std::size_t bytes) noexcept {
  const std::size_t whole = rounded(bytes);
  {
    const std::lock_guard lock(mutex);
    const auto room =
        std::find_if(kept.begin(), kept.end(), [](const Block& b) { return b.bytes == 0; });
    if (room != kept.end() && kept_bytes + whole <= kMostKept) {
      *room = {block, whole};
      kept_bytes += whole;
      return;
    }
  }
  std::free(block);
}

}  // namespace nearcast
