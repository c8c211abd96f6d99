// Region: it grows in place, keeps what is used, and gives zeros; ColumnMemory: blocks come back.
#include <cstddef>
#include <cstring>
#include <utility>

#include "nearcast/base/column_memory.h"
#include "nearcast/base/region.h"
#include "tests/unit/check.h"

namespace nearcast::unit {
namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;

std::byte mark(std::size_t i) { return static_cast<std::byte>(i * 31 % 251 + 1); }

const Test kGrows("a region keeps what is used and gives zeros, over every border", [] {
  // The heap ends at 1 MiB; 64 MiB of addresses are reserved first, sixteen times as many then.
  Region region;
  std::size_t used = 0;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{65}, kMega - 1,
                                  kMega, kMega + 1, 2 * kMega + 1, 63 * kMega, 64 * kMega + 1}) {
    region.grow(bytes, used);
    check(region.capacity() >= bytes);
    for (std::size_t i = 0; i < used; i += 4095) check(region.data()[i] == mark(i));
    for (std::size_t i = used; i < bytes; i += 61) check(region.data()[i] == std::byte{0});
    for (std::size_t i = (used + 4094) / 4095 * 4095; i < bytes; i += 4095) {
      region.data()[i] = mark(i);
    }
    used = bytes;
  }
});

const Test kInPlace("a large region does not move while its addresses last", [] {
  Region region;
  region.grow(2 * kMega, 0);
  const std::byte* first = region.data();
  for (std::size_t bytes = 2 * kMega; bytes < 60 * kMega; bytes += 7 * kMega) {
    region.grow(bytes, 0);
    check(region.data() == first);
  }
  const std::size_t capacity = region.capacity();
  region.grow(1, 0);  // never shrinks
  check(region.capacity() == capacity && region.data() == first);
});

const Test kMoved("a region that was moved from can be used again", [] {
  Region one;
  one.grow(3 * kMega, 0);
  one.data()[5] = mark(5);
  Region other = std::move(one);
  check(other.data()[5] == mark(5) && one.data() == nullptr && one.capacity() == 0);
  one.grow(10, 0);
  check(one.data()[9] == std::byte{0});
});

const Test kNoAddresses("a region that the system cannot give is refused, and the old one stays",
                        [] {
                          Region region;
                          region.grow(100, 0);
                          region.data()[99] = mark(99);
                          bool is_refused = false;
                          try {
                            region.grow(std::size_t{1} << 62, 100);
                          } catch (const std::bad_alloc&) {
                            is_refused = true;
                          } catch (const Error& error) {
                            is_refused = error.kind == ErrorKind::kCapacity;
                          }
                          check(is_refused && region.data()[99] == mark(99));
                        });

const Test kAdopt("a region starts as the bytes of a blob, and can grow from there", [] {
  const char text[] = "what was saved";
  Region region;
  region.grow(5 * kMega, 0);
  Blob blob{};
  blob.bytes = reinterpret_cast<const std::byte*>(text);
  blob.count = sizeof(text);
  blob.file = -1;
  region.adopt(blob);
  check(std::memcmp(region.data(), text, sizeof(text)) == 0);
  region.grow(kMega * 2, sizeof(text));
  check(std::memcmp(region.data(), text, sizeof(text)) == 0);
  check(region.data()[kMega] == std::byte{0});
});

const Test kColumns("a block that was given back serves the next batch of its size", [] {
  const std::size_t bytes = ColumnMemory::kLeast + 1;
  void* first = ColumnMemory::take(bytes);
  check(first != nullptr);
  std::memset(first, 1, bytes);
  ColumnMemory::give(first, bytes);
  void* again = ColumnMemory::take(bytes + 1'000);
  check(again == first);
  void* other = ColumnMemory::take(bytes);
  check(other != nullptr && other != again);
  ColumnMemory::give(again, bytes + 1'000);
  ColumnMemory::give(other, bytes);
});

}  // namespace
}  // namespace nearcast::unit
