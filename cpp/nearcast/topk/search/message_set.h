/// A set of some messages, small enough to stay in the fastest cache. Filled and emptied per
/// search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nearcast/base/hash.h"
#include "nearcast/base/ids.h"

namespace nearcast {

class MessageSet {
 public:
  void clear() {
    if (size_ == 0) return;
    std::fill(cells_.begin(), cells_.end(), kEmpty);
    size_ = 0;
  }
  bool has(MessageId id) const { return size_ != 0 && cells_[cell_of(id)] == raw(id); }
  bool insert(MessageId id) {  ///< false: was there
    if (2 * (size_ + 1) > cells_.size()) grow();
    std::uint32_t& cell = cells_[cell_of(id)];
    if (cell == raw(id)) return false;
    cell = raw(id);
    ++size_;
    return true;
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFFu;

  std::size_t cell_of(MessageId id) const {
    std::size_t cell = hash_of(static_cast<std::uint64_t>(raw(id))) & (cells_.size() - 1);
    while (cells_[cell] != kEmpty && cells_[cell] != raw(id))
      cell = (cell + 1) & (cells_.size() - 1);
    return cell;
  }
  void grow() {
    const std::vector<std::uint32_t> old = std::move(cells_);
    cells_.assign(std::max<std::size_t>(256, 2 * old.size()), kEmpty);
    for (const std::uint32_t id : old) {
      if (id != kEmpty) cells_[cell_of(MessageId{id})] = id;
    }
  }

  std::vector<std::uint32_t> cells_;  ///< as many as a power of two
  std::size_t size_ = 0;
};

}  // namespace nearcast
