#include "nearcast/topk/result_buffers.h"

#include <algorithm>

namespace nearcast {
namespace {

constexpr double kLowestNarrow = -2.0;  ///< in units it fits in 32 bits, with room to spare

}  // namespace

ResultBuffers::ResultBuffers(TopSubscriptions& subscriptions, double lowest_score,
                             bool counts_dominators)
    : subscriptions_(subscriptions),
      unit_words_(lowest_score > kLowestNarrow ? 1 : 2),
      counts_dominators_(counts_dominators) {}

std::uint32_t ResultBuffers::class_for(std::uint32_t size) {
  std::uint32_t size_class = 1;
  while (capacity_of(size_class) < size) ++size_class;
  return size_class;
}

std::uint32_t ResultBuffers::place_for(SubscriptionId id, Units units) const {
  const Head& head = head_of(id);
  std::uint32_t low = 0, high = head.size;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (units_at(head, middle) > units) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint32_t ResultBuffers::place_of(SubscriptionId id, MessageId message) const {
  const std::span<const MessageId> all = messages(id);
  const auto found = std::find(all.begin(), all.end(), message);
  return found == all.end() ? kNowhere : static_cast<std::uint32_t>(found - all.begin());
}

void ResultBuffers::close(SubscriptionId id) {
  Head& head = subscriptions_.buffer(id);
  if (head.size_class != 0) blocks_.free(head.start, capacity_of(head) * words_per_place());
  head = Head{};
  set_threshold(id, kLowestUnits);
}

void ResultBuffers::insert(SubscriptionId id, std::uint32_t place, const Held& held) {
  Head& head = subscriptions_.buffer(id);
  if (head.size == capacity_of(head)) resize_block(head, head.size_class + 1u);
  const std::uint32_t behind = head.size - place;
  Word* column = blocks_.at(head.start);
  Word* messages = messages_of(head);
  std::memmove(column + unit_words_ * (place + 1), column + unit_words_ * place,
               behind * unit_words_ * sizeof(Word));
  std::memmove(messages + place + 1, messages + place, behind * sizeof(Word));
  if (counts_dominators_) {
    Word* counts = dominators_of(head);
    std::memmove(counts + place + 1, counts + place, behind * sizeof(Word));
    counts[place] = 0;
  }
  set_units(head, place, held.units);
  messages[place] = raw(held.message);
  ++head.size;
}

void ResultBuffers::remove(SubscriptionId id, std::uint32_t place) {
  Head& head = subscriptions_.buffer(id);
  const std::uint32_t behind = head.size - place - 1;
  Word* column = blocks_.at(head.start);
  Word* messages = messages_of(head);
  std::memmove(column + unit_words_ * place, column + unit_words_ * (place + 1),
               behind * unit_words_ * sizeof(Word));
  std::memmove(messages + place, messages + place + 1, behind * sizeof(Word));
  if (counts_dominators_) {
    Word* counts = dominators_of(head);
    std::memmove(counts + place, counts + place + 1, behind * sizeof(Word));
  }
  truncate(id, head.size - 1);
}

void ResultBuffers::dominate(SubscriptionId id, std::uint32_t first, std::uint32_t limit) {
  const Head& head = head_of(id);
  Word* messages = messages_of(head);
  Word* counts = dominators_of(head);
  std::uint32_t kept = first;
  for (std::uint32_t place = first; place < head.size; ++place) {
    const Word count = counts[place] + 1;
    if (count >= limit) continue;
    if (kept != place) {
      set_units(head, kept, units_at(head, place));
      messages[kept] = messages[place];
    }
    counts[kept++] = count;
  }
  if (kept < head.size) truncate(id, kept);
}

void ResultBuffers::truncate(SubscriptionId id, std::uint32_t size) {
  Head& head = subscriptions_.buffer(id);
  head.size = size;
  // Memory is given back late, so that a buffer near a limit does not move back and forth.
  if (size >= capacity_of(head) / 2) return;
  const std::uint32_t size_class = class_for(size);
  if (capacity_of(size_class) < capacity_of(head) / 2) resize_block(head, size_class);
}

void ResultBuffers::assign(SubscriptionId id, std::span<const Held> all) {
  Head& head = subscriptions_.buffer(id);
  head.size = 0;
  const auto size = static_cast<std::uint32_t>(all.size());
  const std::uint32_t size_class = class_for(size);
  if (head.size_class != size_class) resize_block(head, size_class);
  head.size = size;
  Word* messages = messages_of(head);
  for (std::uint32_t place = 0; place < size; ++place) {
    set_units(head, place, all[place].units);
    messages[place] = raw(all[place].message);
  }
  if (counts_dominators_) {
    Word* counts = dominators_of(head);
    std::fill(counts, counts + size, 0);
  }
}

void ResultBuffers::resize_block(Head& head, std::uint32_t size_class) {
  const Head old = head;
  head.size_class = static_cast<std::uint8_t>(size_class);
  head.start = blocks_.allocate(capacity_of(head) * words_per_place());
  if (old.size_class == 0) return;
  const Word* from = blocks_.at(old.start);
  Word* to = blocks_.at(head.start);
  std::uint32_t first = 0;  // of the column, in places
  for (const std::uint32_t words : {unit_words_, 1u, counts_dominators_ ? 1u : 0u}) {
    std::memcpy(to + first * capacity_of(head), from + first * capacity_of(old),
                head.size * words * sizeof(Word));
    first += words;
  }
  blocks_.free(old.start, capacity_of(old) * words_per_place());
}

}  // namespace nearcast
