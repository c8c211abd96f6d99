/// Which subscriptions hold the set of live messages that they match? By slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"

namespace nearcast {

class LiveFlags {
 public:
  bool has(SubscriptionId id) const { return raw(id) < flags_.size() && flags_[raw(id)] != 0; }
  void set(SubscriptionId id, bool is_holding) {
    if (has(id) == is_holding) return;
    if (flags_.size() <= raw(id)) flags_.resize(raw(id) + 1);
    flags_[raw(id)] = is_holding ? 1 : 0;
    count_ += is_holding ? 1 : std::size_t{0} - 1;
  }
  bool empty() const { return count_ == 0; }
  std::size_t memory_bytes() const { return flags_.memory_bytes(); }

  void save(ArchiveWriter& out) const { flags_.save(out); }
  void load(ArchiveReader& in) {
    flags_.load(in);
    count_ = flags_.size() - static_cast<std::size_t>(std::count(flags_.begin(), flags_.end(), 0));
  }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t slot = 0; slot < flags_.size(); ++slot) {
      if (flags_[slot] != 0) visit(SubscriptionId{slot});
    }
  }

 private:
  Array<std::uint8_t> flags_;
  std::size_t count_ = 0;
};

}  // namespace nearcast
