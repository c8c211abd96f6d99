/// What each subscription holds: its best messages, best first, usually some more than k.
///
/// A buffer belongs to a *threshold*: every live message that shares a keyword and was not dropped
/// from the buffer scores below it, or equals it and is older than all of the same score that were
/// dropped. So a newcomer concerns the buffer if its units reach the threshold. The lowest
/// threshold says that nothing was ever left out.
///
///   head    threshold, position, size and capacity
///   block   columns: units (4 bytes each, or 8), messages, [dominators]
///
/// Units take 4 bytes if the space is so large that no score can leave the range. Otherwise they
/// take 8: the sorting is exact either way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/model/top_score.h"

namespace nearcast {

struct Held {
  Units units;
  MessageId message;
};

/// Does a buffer have to be filled anew: no; unless newcomers have filled it; in any case.
enum class Refill : std::uint32_t { kNo, kIfShort, kSurely };

class ResultBuffers {
 public:
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFFu;

  /// `lowest_score` is below every score that can occur. `counts_dominators`: each place has room
  /// for a number.
  ResultBuffers(double lowest_score, bool counts_dominators);

  std::uint32_t size(SubscriptionId id) const { return heads_[raw(id)].size; }
  Units threshold(SubscriptionId id) const { return heads_[raw(id)].threshold; }
  bool is_complete(SubscriptionId id) const { return threshold(id) == kLowestUnits; }
  void set_threshold(SubscriptionId id, Units units) { heads_[raw(id)].threshold = units; }
  Refill refill(SubscriptionId id) const { return heads_[raw(id)].refill; }
  void set_refill(SubscriptionId id, Refill refill) { heads_[raw(id)].refill = refill; }
  void prefetch(SubscriptionId id) const { __builtin_prefetch(&heads_[raw(id)]); }
  /// Ask for the buffer itself, when its head is there.
  void prefetch_block(SubscriptionId id) const {
    constexpr std::uint32_t kLine = 64 / sizeof(Word);
    const Head& head = heads_[raw(id)];
    for (std::uint32_t word = 0; word < head.capacity * words_per_place(); word += kLine)
      __builtin_prefetch(blocks_.at(head.start) + word);
  }

  Held held(SubscriptionId id, std::uint32_t place) const {
    const Head& head = heads_[raw(id)];
    return {units_at(head, place), MessageId{messages_of(head)[place]}};
  }
  std::span<const MessageId> messages(SubscriptionId id) const {
    static_assert(sizeof(MessageId) == sizeof(Word));
    const Head& head = heads_[raw(id)];
    return {reinterpret_cast<const MessageId*>(messages_of(head)), head.size};
  }
  std::uint32_t& dominators(SubscriptionId id, std::uint32_t place) {
    return dominators_of(heads_[raw(id)])[place];
  }
  std::uint32_t dominators(SubscriptionId id, std::uint32_t place) const {
    return dominators_of(heads_[raw(id)])[place];
  }

  /// Where a message that is newer than all others belongs: before all that do not beat it.
  std::uint32_t place_for(SubscriptionId id, Units units) const;
  std::uint32_t place_of(SubscriptionId id, MessageId message) const;  ///< kNowhere: not held

  void open(SubscriptionId id);  ///< an empty buffer that holds everything there is
  void close(SubscriptionId id);
  void insert(SubscriptionId id, std::uint32_t place, const Held& held);
  void remove(SubscriptionId id, std::uint32_t place);
  /// One dominator more for each from `first` on; those that have `limit` by it are dropped.
  void dominate(SubscriptionId id, std::uint32_t first, std::uint32_t limit);
  void truncate(SubscriptionId id, std::uint32_t size);
  void assign(SubscriptionId id, std::span<const Held> all);  ///< best first

  std::size_t memory_bytes() const { return heads_.memory_bytes() + blocks_.memory_bytes(); }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  using Word = std::uint32_t;
  struct Head {
    Units threshold;
    std::uint32_t start, size, capacity;
    Refill refill;
  };

  std::uint32_t words_per_place() const { return unit_words_ + 1 + (counts_dominators_ ? 1 : 0); }
  Word* messages_of(const Head& head) {
    return blocks_.at(head.start) + head.capacity * unit_words_;
  }
  const Word* messages_of(const Head& head) const {
    return blocks_.at(head.start) + head.capacity * unit_words_;
  }
  Word* dominators_of(const Head& head) { return messages_of(head) + head.capacity; }
  const Word* dominators_of(const Head& head) const { return messages_of(head) + head.capacity; }
  Units units_at(const Head& head, std::uint32_t place) const {
    const Word* column = blocks_.at(head.start);
    if (unit_words_ == 1) return static_cast<std::int32_t>(column[place]);
    Units units;
    std::memcpy(&units, column + 2 * place, sizeof(units));
    return units;
  }
  void set_units(const Head& head, std::uint32_t place, Units units) {
    Word* column = blocks_.at(head.start);
    if (unit_words_ == 1) {
      column[place] = static_cast<Word>(static_cast<std::int32_t>(units));
    } else {
      std::memcpy(column + 2 * place, &units, sizeof(units));
    }
  }
  void resize_block(Head& head, std::uint32_t capacity);
  void release_block(Head& head);

  std::uint32_t unit_words_;
  bool counts_dominators_;
  Array<Head> heads_;
  ListArena<Word> blocks_;
};

}  // namespace nearcast
