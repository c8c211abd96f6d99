#include "nearcast/base/region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace nearcast {
namespace {

constexpr int kAddressBits = 48;
constexpr std::size_t kHeapLimit = std::size_t{1} << 20;
constexpr std::size_t kFirstAddresses = std::size_t{1} << 26;  // of addresses, not of memory
constexpr std::size_t kMoreAddresses = 16;                     // times as many, when they run out
constexpr std::size_t kHugePage = std::size_t{1} << 21;
constexpr std::size_t kCommitStep = std::size_t{1} << 18;
constexpr std::size_t kMapFrom = std::size_t{1} << 16;  // smaller blobs are cheaper to copy

std::size_t round_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

}  // namespace

Region::~Region() { release(); }

void Region::release() {
  if (reserved_ != 0) {
    ::munmap(data_, reserved_);
  } else {
    std::free(data_);
  }
  data_ = nullptr;
  capacity_ = reserved_ = 0;
}

void Region::reserve_addresses(std::size_t bytes) {
  const std::size_t addresses = round_up(std::max(bytes, kFirstAddresses), kHugePage);
  const std::size_t length = addresses + kHugePage;
  void* start =
      ::mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  // index/ours/sized_lists packs a pointer and 16 bits into 64 bits. Linux gives addresses of more
  // than 48 bits only to programs that request them.
  if ((reinterpret_cast<std::uintptr_t>(start) + length) >> kAddressBits != 0) {
    ::munmap(start, length);
    too_large("memory", "an address of more than 48 bits", "one of 48 bits at most");
  }
  // Start at the border of a huge page, and give the rest back.
  const auto first = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t aligned = round_up(first, kHugePage);
  if (aligned != first) ::munmap(start, aligned - first);
  ::munmap(reinterpret_cast<void*>(aligned + addresses), first + kHugePage - aligned);
  data_ = reinterpret_cast<std::byte*>(aligned);
  reserved_ = addresses;
  capacity_ = 0;
#ifdef MADV_HUGEPAGE
  // Lists are read at random: with small pages every other read would miss the TLB. The system may
  // ignore this.
  ::madvise(data_, reserved_, MADV_HUGEPAGE);
#endif
}

void Region::commit(std::size_t bytes) {
  const std::size_t wanted = round_up(bytes, bytes < kHugePage ? kCommitStep : kHugePage);
  if (wanted > reserved_) move_to_more_addresses(wanted);
  if (wanted <= capacity_) return;
  if (::mprotect(data_ + capacity_, wanted - capacity_, PROT_READ | PROT_WRITE) != 0) {
    throw std::bad_alloc();
  }
  capacity_ = wanted;
}

/// Moves pages by their table entries instead of copying their contents, where the system can.
void Region::move_to_more_addresses(std::size_t bytes) {
  Region larger;
  larger.reserve_addresses(std::max(bytes, reserved_ * kMoreAddresses));
#ifdef MREMAP_FIXED
  void* moved = ::mremap(data_, capacity_, capacity_, MREMAP_MAYMOVE | MREMAP_FIXED, larger.data_);
  if (moved != MAP_FAILED) {
    larger.capacity_ = capacity_;
    ::munmap(data_ + capacity_, reserved_ - capacity_);
    data_ = nullptr;
    capacity_ = reserved_ = 0;
    swap(larger);
    return;
  }
#endif
  larger.commit(bytes);
  std::memcpy(larger.data_, data_, capacity_);
  swap(larger);
}

void Region::grow(std::size_t bytes, std::size_t used) {
  if (bytes <= capacity_) return;
  if (reserved_ != 0) {
    commit(bytes);
    return;
  }
  if (bytes <= kHeapLimit) {
    const std::size_t wanted = std::max<std::size_t>({bytes, capacity_ * 2, 64});
    auto* larger = static_cast<std::byte*>(std::realloc(data_, wanted));
    if (larger == nullptr) throw std::bad_alloc();
    std::memset(larger + capacity_, 0, wanted - capacity_);
    data_ = larger;
    capacity_ = wanted;
    return;
  }
  Region large;
  large.reserve_addresses(bytes);
  large.commit(bytes);
  if (used != 0)
    std::memcpy(large.data_, data_, used);  // the rest of the heap block was zero or stale
  swap(large);
}

void Region::adopt(const Blob& blob) {
  Region fresh;
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  // A machine with larger pages than the writer's cannot map at this place.
  if (blob.file < 0 || blob.count < kMapFrom || blob.file_offset % page != 0) {
    fresh.grow(blob.count, 0);
    if (blob.count != 0) std::memcpy(fresh.data_, blob.bytes, blob.count);
  } else {
    const std::size_t length = round_up(blob.count, page);
    fresh.reserve_addresses(4 * length);
    void* mapped = ::mmap(fresh.data_, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                          blob.file, static_cast<off_t>(blob.file_offset));
    if (mapped == MAP_FAILED) {
      throw Error(ErrorKind::kSnapshot, "snapshot: the file could not be mapped",
                  std::strerror(errno));
    }
    fresh.capacity_ = length;
    std::memset(fresh.data_ + blob.count, 0, length - blob.count);  // whatever the file has there
  }
  swap(fresh);
}

}  // namespace nearcast
