/// Lists by token of subscriptions that a single token leads to, wherever the message is.
///
/// A subscription of one keyword is an answer as soon as the keyword is there, if text alone may
/// reach its threshold; only the score depends on the place. Such postings carry what the score
/// needs: a box in cells and the number of the terms. A list is in the order of the subscriptions
/// (base/block_lists.h), so that one of many that share a keyword is quickly found when it is
/// erased.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/block_lists.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/index/ours/sized_lists/frame.h"

namespace nearcast {

struct AnywherePosting {
  sized_lists::CellBox box;
  SubscriptionId id;
  std::uint16_t terms;
  std::uint16_t is_single;  ///< 1: one keyword, plain box, no other route: box and terms decide
};

class AnywhereLists {
 public:
  std::uint64_t size() const { return size_; }  ///< postings of all lists
  std::size_t size(std::size_t number) const {
    return number < lists_.size() ? lists_[number].size : 0;
  }
  /// Calls visit(postings) for each stretch of the list.
  template <typename Visit>
  void for_each_block(std::size_t number, Visit&& visit) const {
    if (number < lists_.size()) postings_.for_each_block(lists_[number], visit);
  }
  const AnywherePosting* find(std::size_t number, SubscriptionId id) const {  ///< or nullptr
    return number < lists_.size() ? postings_.find(lists_[number], raw(id)) : nullptr;
  }
  void prefetch(std::size_t number) const {
    if (number < lists_.size()) prefetch_line(&lists_[number]);
  }

  void add(std::size_t number, const AnywherePosting& posting);
  bool remove(std::size_t number, SubscriptionId id);  ///< false: was not there
  void clear();

  std::size_t memory_bytes() const { return lists_.memory_bytes() + postings_.memory_bytes(); }

 private:
  struct KeyOf {
    std::uint32_t operator()(const AnywherePosting& posting) const { return raw(posting.id); }
  };

  Array<BlockList> lists_;
  BlockLists<AnywherePosting, KeyOf> postings_;
  std::uint64_t size_ = 0;
};

}  // namespace nearcast
