/// How many stored elements did changes look at or move, on this thread? Tests compare it with the
/// number of changes and so find a change whose cost grows with what is stored.
#pragma once

#include <cstdint>

namespace nearcast {

inline thread_local std::uint64_t change_steps = 0;

inline void count_change_steps(std::uint64_t steps) { change_steps += steps; }

}  // namespace nearcast
