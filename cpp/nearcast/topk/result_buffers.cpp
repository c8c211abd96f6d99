#include "nearcast/topk/result_buffers.h"

#include <algorithm>

namespace nearcast {
namespace {

constexpr double kLowestNarrow = -2.0;  ///< in units it has room in 32 bits, with some to spare

/// 4, 8, 16, 24, 32, 48, 64, …: steps that waste no words of the arena's size classes.
std::uint32_t capacity_for(std::uint32_t size) {
  std::uint32_t capacity = 4;
  while (capacity < size) {
    const bool is_power = (capacity & (capacity - 1)) == 0;
    capacity = capacity < 16 ? capacity * 2 : is_power ? capacity / 2 * 3 : capacity / 3 * 4;
  }
  return capacity;
}

}  // namespace

ResultBuffers::ResultBuffers(double lowest_score, bool counts_dominators)
    : unit_words_(lowest_score > kLowestNarrow ? 1 : 2), counts_dominators_(counts_dominators) {}

std::uint32_t ResultBuffers::place_for(SubscriptionId id, Units units) const {
  const Head& head = heads_[raw(id)];
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

void ResultBuffers::open(SubscriptionId id) {
  if (raw(id) >= heads_.size()) heads_.resize(raw(id) + 1);
  heads_[raw(id)] = {kLowestUnits, 0, 0, 0, Refill::kNo};
}

void ResultBuffers::close(SubscriptionId id) {
  release_block(heads_[raw(id)]);
  heads_[raw(id)] = {kLowestUnits, 0, 0, 0, Refill::kNo};
}

void ResultBuffers::insert(SubscriptionId id, std::uint32_t place, const Held& held) {
  Head& head = heads_[raw(id)];
  if (head.size == head.capacity) resize_block(head, capacity_for(head.size + 1));
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
  Head& head = heads_[raw(id)];
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
  const Head& head = heads_[raw(id)];
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
  Head& head = heads_[raw(id)];
  head.size = size;
  // Given back late, so that a buffer that sways around a border does not move each time.
  if (capacity_for(size) < head.capacity / 2) resize_block(head, capacity_for(size));
}

void ResultBuffers::assign(SubscriptionId id, std::span<const Held> all) {
  Head& head = heads_[raw(id)];
  head.size = 0;
  const auto size = static_cast<std::uint32_t>(all.size());
  const std::uint32_t capacity = capacity_for(size);
  if (head.capacity != capacity) resize_block(head, capacity);
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

void ResultBuffers::resize_block(Head& head, std::uint32_t capacity) {
  const Head old = head;
  head.capacity = capacity;
  head.start = blocks_.allocate(capacity * words_per_place());
  if (old.capacity == 0) return;
  const Word* from = blocks_.at(old.start);
  Word* to = blocks_.at(head.start);
  std::uint32_t first = 0;  // of the column, in places
  for (const std::uint32_t words : {unit_words_, 1u, counts_dominators_ ? 1u : 0u}) {
    std::memcpy(to + first * capacity, from + first * old.capacity,
                head.size * words * sizeof(Word));
    first += words;
  }
  blocks_.free(old.start, old.capacity * words_per_place());
}

void ResultBuffers::release_block(Head& head) {
  if (head.capacity != 0) blocks_.free(head.start, head.capacity * words_per_place());
}

void ResultBuffers::save(ArchiveWriter& out) const {
  heads_.save(out);
  blocks_.save(out);
}

void ResultBuffers::load(ArchiveReader& in) {
  heads_.load(in);
  blocks_.load(in);
}

}  // namespace nearcast
