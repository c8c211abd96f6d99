#include "nearcast/topk/search/posting_lists.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast::top_postings {
namespace {

/// The largest capacity with three columns in a size class of the arena that has room for `size`.
std::uint32_t capacity_for(std::uint32_t size) {
  std::uint32_t words = 3;
  while (words / 3 < size) {
    const bool is_third = words % 3 == 0;  // 3, 4, 6, 8, 12, 16, 24, …
    words = is_third ? words / 3 * 4 : words / 2 * 3;
  }
  return words / 3;
}

}  // namespace

void PostingLists::add(std::size_t key, const Posting& posting) {
  if (key >= lists_.size()) lists_.resize(key + 1);
  List& list = lists_[key];
  if (list.end == list.capacity) make_room(list);
  Word* block = blocks_.at(list.start);
  block[list.end] = posting.cell;
  block[list.capacity + list.end] = posting.weights;
  block[2 * list.capacity + list.end] = raw(posting.message);
  ++list.end;
}

void PostingLists::remove(std::size_t key, MessageId message, bool is_first) {
  List& list = lists_[key];
  if (is_first && list.gaps == 0) {
    ++list.begin;
  } else {
    Word* messages = blocks_.at(list.start) + 2 * list.capacity;
    Word* found = std::find(messages + list.begin, messages + list.end, raw(message));
    ensure(found != messages + list.end, "posting lists: a message is not in its list");
    *found = raw(kGap);
    ++list.gaps;
    for (; list.begin < list.end && messages[list.begin] == raw(kGap); ++list.begin) --list.gaps;
  }
  if (list.begin == list.end) clear(key);
}

/// Closes gaps, and takes a larger block if less than a quarter of the old one is free then.
void PostingLists::make_room(List& list) {
  const List old = list;
  const std::uint32_t size = list.end - list.begin - list.gaps;
  const std::uint32_t wanted = capacity_for(size + std::max(size / 4, 1u));
  if (wanted != old.capacity) {
    list.capacity = wanted;
    list.start = blocks_.allocate(wanted * kColumns);
  }
  const Word* from = blocks_.at(old.start);
  Word* to = blocks_.at(list.start);
  std::uint32_t kept = 0;
  for (std::uint32_t i = old.begin; i < old.end; ++i) {
    if (from[2 * old.capacity + i] == raw(kGap)) continue;
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      to[column * list.capacity + kept] = from[column * old.capacity + i];
    }
    ++kept;
  }
  list.begin = list.gaps = 0;
  list.end = kept;
  if (wanted != old.capacity && old.capacity != 0) {
    blocks_.free(old.start, old.capacity * kColumns);
  }
}

void PostingLists::clear(std::size_t key) {
  if (key >= lists_.size()) return;
  List& list = lists_[key];
  if (list.capacity != 0) blocks_.free(list.start, list.capacity * kColumns);
  list = List{};
}

void PostingLists::clear() {
  for (std::size_t key = 0; key < lists_.size(); ++key) clear(key);
}

std::size_t PostingLists::postings() const {
  std::size_t all = 0;
  for (const List& list : lists_) all += list.end - list.begin - list.gaps;
  return all;
}

}  // namespace nearcast::top_postings
