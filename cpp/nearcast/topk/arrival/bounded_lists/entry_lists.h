/// Lists of entries by number, short or long by how many they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nearcast/base/prefetch.h"
#include "nearcast/topk/arrival/bounded_lists/long_list.h"
#include "nearcast/topk/arrival/bounded_lists/short_list.h"

namespace nearcast::bounded_lists {

class EntryLists {
 public:
  /// A list with more than `most_short` entries is a long one, until it has half as many.
  explicit EntryLists(std::uint32_t most_short) : most_short_(most_short) {}

  bool is_long(std::size_t key) const {
    return key < heads_.size() && heads_[key].capacity == kLong;
  }
  std::uint32_t size(std::size_t key) const;
  bool should_be_long(std::size_t key) const { return size(key) > most_short_; }
  bool should_be_short(std::size_t key) const { return size(key) <= most_short_ / 2; }
  void make_long(std::size_t key);
  void make_short(std::size_t key);

  void add(std::size_t key, const Entry& entry);
  void remove(std::size_t key, const Entry& entry);     ///< is there
  void set_slack(std::size_t key, const Entry& entry);  ///< is there
  void collect(std::size_t key, std::vector<Entry>& out) const;
  void clear();

  /// Prefetch a list that will be read: in steps 0, 1 and 2, with some time between them.
  void prefetch(std::size_t key, int step) const {
    if (key >= heads_.size()) return;
    if (step == 0) {
      prefetch_line(&heads_[key]);
    } else if (is_long(key)) {
      longs_.prefetch(heads_[key].start, step);
    } else if (step == 1 && heads_[key].size != 0) {
      shorts_.prefetch(heads_[key]);
    }
  }
  /// For searches. A long list: its number in longs().
  const ShortLists::List& short_list(std::size_t key) const { return heads_[key]; }
  std::uint32_t long_list(std::size_t key) const { return heads_[key].start; }
  const ShortLists& shorts() const { return shorts_; }
  const LongLists& longs() const { return longs_; }

  std::size_t keys() const { return heads_.size(); }
  std::size_t memory_bytes() const {
    return heads_.memory_bytes() + shorts_.memory_bytes() + longs_.memory_bytes();
  }

 private:
  static constexpr std::uint32_t kLong = 0xFFFFFFFFu;  ///< capacity of a head that is long

  std::uint32_t most_short_;
  Array<ShortLists::List> heads_;
  ShortLists shorts_;
  LongLists longs_;
};

}  // namespace nearcast::bounded_lists
