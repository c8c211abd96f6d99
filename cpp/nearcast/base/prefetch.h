/// Prefetch the cache line at an address that will be read soon.
///
/// GCC considers a function that only prefetches free of effects and deletes calls to it that are
/// not inlined. The empty asm statement counts as an effect and produces no instruction.
#pragma once

namespace nearcast {

inline void prefetch_line(const void* at) {
  __builtin_prefetch(at);
#if defined(__GNUC__)
  __asm__ volatile("");
#endif
}

}  // namespace nearcast
