/// Ask for the cache line at an address that will be read soon.
///
/// To GCC a prefetch is no effect: of a function that does nothing else it deletes the calls,
/// unless they are inlined. The empty statement is an effect in its eyes and no instruction.
#pragma once

namespace nearcast {

inline void prefetch_line(const void* at) {
  __builtin_prefetch(at);
#if defined(__GNUC__)
  __asm__ volatile("");
#endif
}

}  // namespace nearcast
