/// Which of many ids were seen during this call? Cleared in O(1) by moving to the next stamp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "nearcast/base/array.h"
#include "nearcast/base/prefetch.h"

namespace nearcast {

class VisitStamps {
 public:
  /// Forget everything; ids below `size` may be passed until the next call.
  void start(std::size_t size) {
    if (stamps_.size() < size) stamps_.resize(std::max(size, stamps_.size() * 2));
    if (++current_ == 0) {  // wrapped: old stamps could be mistaken for new ones
      std::fill(stamps_.begin(), stamps_.end(), 0);
      current_ = 1;
    }
  }

  /// True the first time an id is passed since start().
  bool first_visit(std::uint32_t id) {
    if (stamps_[id] == current_) return false;
    stamps_[id] = current_;
    return true;
  }
  void prefetch(std::uint32_t id) const { prefetch_line(&stamps_[id]); }
  bool was_visited(std::uint32_t id) const { return stamps_[id] == current_; }

 private:
  Array<std::uint32_t> stamps_;
  std::uint32_t current_ = 0;
};

}  // namespace nearcast
