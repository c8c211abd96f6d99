/// How much work an answer took. Counted per call, so that losing the pruning fails a test even
/// when the answers stay right.
#pragma once

#include <cstdint>

namespace nearcast {

struct WorkCounters {
  std::uint64_t nodes_visited = 0;  ///< tree nodes, lists or directories looked at
  std::uint64_t groups = 0;         ///< of entries that an index tested, or skipped, as one
  std::uint64_t candidates = 0;     ///< entries an index looked at one by one
  std::uint64_t verified = 0;       ///< candidates that were scored or compared in full
  std::uint64_t matches = 0;

  WorkCounters& operator+=(const WorkCounters& other) {
    nodes_visited += other.nodes_visited;
    groups += other.groups;
    candidates += other.candidates;
    verified += other.verified;
    matches += other.matches;
    return *this;
  }
};

}  // namespace nearcast
