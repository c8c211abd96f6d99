/// Lists of messages by number, in the order of publication, as three columns: cell, weights,
/// message.
///
/// Messages mostly leave in the order in which they were published: then a list just begins one
/// posting later. Others leave a gap, which is closed when the list runs out of room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/topk/search/posting_scan.h"

namespace nearcast::top_postings {

struct Posting {
  PackedCell cell;
  std::uint32_t weights;
  MessageId message;
};

constexpr MessageId kGap = MessageId{0xFFFFFFFFu};

class PostingLists {
 public:
  struct List {
    std::uint32_t start = 0;           ///< of its block in the arena
    std::uint32_t begin = 0, end = 0;  ///< of its postings in the block
    std::uint32_t capacity = 0;
    std::uint32_t gaps = 0;
  };

  std::uint32_t size(std::size_t key) const {
    if (key >= lists_.size()) return 0;
    const List& list = lists_[key];
    return list.end - list.begin - list.gaps;
  }
  /// May groups of eight be read, even if the last one is not full?
  bool has_room_for_groups(std::size_t key) const {
    return key < lists_.size() && lists_[key].capacity >= 8;
  }
  void prefetch(std::size_t key) const {
    if (key < lists_.size()) prefetch_line(&lists_[key]);
  }
  void add(std::size_t key, const Posting& posting);
  /// `is_first`: no posting of the list is of an older message.
  void remove(std::size_t key, MessageId message, bool is_first);
  void clear();
  void clear(std::size_t key);
  /// Replace each posting's weights by change(weights, message).
  template <typename Change>
  void change_weights(std::size_t key, Change&& change) {
    const List& list = lists_[key];
    Word* weights = blocks_.at(list.start) + list.capacity;
    for (std::uint32_t i = list.begin; i < list.end; ++i) {
      if (messages_of(list)[i] != kGap) weights[i] = change(weights[i], messages_of(list)[i]);
    }
  }
  template <typename Visit>
  void for_each(std::size_t key, Visit&& visit) const {  ///< visit(message), oldest first
    if (key >= lists_.size()) return;
    const List& list = lists_[key];
    for (std::uint32_t i = list.begin; i < list.end; ++i) {
      if (messages_of(list)[i] != kGap) visit(messages_of(list)[i]);
    }
  }

  /// Calls visit(columns, messages, count) for parts of at most kChunk postings; skip gaps.
  template <typename Visit>
  void for_each_chunk(std::size_t key, Visit&& visit) const {
    if (key >= lists_.size()) return;
    const List& list = lists_[key];
    const Columns all = columns(list);
    const MessageId* messages = messages_of(list);
    for (std::uint32_t first = list.begin; first < list.end; first += kChunk) {
      visit(Columns{all.cells + first, all.weights + first}, messages + first,
            std::min(kChunk, list.end - first));
    }
  }

  std::size_t postings() const;  ///< of all lists, gaps not counted
  std::size_t memory_bytes() const { return lists_.memory_bytes() + blocks_.memory_bytes(); }

 private:
  using Word = std::uint32_t;
  static constexpr std::uint32_t kColumns = 3;

  Columns columns(const List& list) const {
    const Word* block = blocks_.at(list.start);
    return {block, block + list.capacity};
  }
  const MessageId* messages_of(const List& list) const {
    static_assert(sizeof(MessageId) == sizeof(Word));
    return reinterpret_cast<const MessageId*>(blocks_.at(list.start) + 2 * list.capacity);
  }
  void make_room(List& list);

  Array<List> lists_;  ///< by key
  ListArena<Word> blocks_;
};

}  // namespace nearcast::top_postings
