/// Subscriptions that a single token leads to, wherever the message is: by token, side by side.
///
/// A subscription of one keyword is an answer as soon as the keyword is there, if text alone may
/// reach its threshold; only the score depends on the place. Such postings carry what the score
/// needs: a box in cells and the number of the terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/index/auto/frame.h"

namespace nearcast {

struct AnywherePosting {
  automatic::CellBox box;
  SubscriptionId id;
  std::uint16_t terms;
  std::uint16_t is_single;  ///< 1: one keyword, plain box, no other route: box and terms decide
};

class AnywhereLists {
 public:
  std::uint64_t size() const { return size_; }  ///< postings of all lists
  std::span<const AnywherePosting> list(std::size_t number) const {
    return number < lists_.size() ? postings_.view(lists_[number])
                                  : std::span<const AnywherePosting>();
  }
  void prefetch(std::size_t number) const {
    if (number < lists_.size()) prefetch_line(&lists_[number]);
  }

  void add(std::size_t number, const AnywherePosting& posting);
  bool remove(std::size_t number, SubscriptionId id);  ///< false: was not there
  void clear();

  std::size_t memory_bytes() const { return lists_.memory_bytes() + postings_.memory_bytes(); }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  Array<ListHandle> lists_;
  ListArena<AnywherePosting> postings_;
  std::uint64_t size_ = 0;
};

}  // namespace nearcast
