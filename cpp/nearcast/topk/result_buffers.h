/// What each subscription holds: its best messages, best first, usually some more than k.
///
/// A buffer has a *threshold*: every live message that shares a keyword and is not in the buffer
/// was dropped from it, scores below the threshold, or equals it and is older than those of the
/// same score in the buffer. So a newcomer enters the buffer if its units reach the threshold. The
/// lowest threshold says that nothing was ever left out.
///
///   head    threshold, position, size and capacity, in the subscription's record
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
#include "nearcast/base/prefetch.h"
#include "nearcast/model/top_score.h"
#include "nearcast/topk/top_subscriptions.h"

namespace nearcast {

struct Held {
  Units units;
  MessageId message;
};

class ResultBuffers {
 public:
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFFu;

  /// `lowest_score` is below every score that can occur. `counts_dominators`: each place has room
  /// for a number.
  ResultBuffers(TopSubscriptions& subscriptions, double lowest_score, bool counts_dominators);

  std::uint32_t size(SubscriptionId id) const { return head_of(id).size; }
  Units threshold(SubscriptionId id) const { return subscriptions_[id].threshold; }
  bool is_complete(SubscriptionId id) const { return threshold(id) == kLowestUnits; }
  void set_threshold(SubscriptionId id, Units units) { subscriptions_.set_threshold(id, units); }
  Refill refill(SubscriptionId id) const { return head_of(id).refill; }
  void set_refill(SubscriptionId id, Refill refill) { subscriptions_.buffer(id).refill = refill; }
  /// Prefetch the buffer, when the subscription's record is in the cache.
  void prefetch_block(SubscriptionId id) const {
    const Head& head = head_of(id);
    prefetch_words(blocks_.at(head.start), head.size * unit_words_);
    prefetch_words(messages_of(head), head.size);
  }

  Held held(SubscriptionId id, std::uint32_t place) const {
    const Head& head = head_of(id);
    return {units_at(head, place), MessageId{messages_of(head)[place]}};
  }
  std::span<const MessageId> messages(SubscriptionId id) const {
    static_assert(sizeof(MessageId) == sizeof(Word));
    const Head& head = head_of(id);
    return {reinterpret_cast<const MessageId*>(messages_of(head)), head.size};
  }
  std::uint32_t& dominators(SubscriptionId id, std::uint32_t place) {
    return dominators_of(head_of(id))[place];
  }
  std::uint32_t dominators(SubscriptionId id, std::uint32_t place) const {
    return dominators_of(head_of(id))[place];
  }

  /// The place of a message that is newer than all others: before all that do not score higher.
  std::uint32_t place_for(SubscriptionId id, Units units) const;
  std::uint32_t place_of(SubscriptionId id, MessageId message) const;  ///< kNowhere: not held

  void close(SubscriptionId id);  ///< empty from now on, with the lowest threshold
  void insert(SubscriptionId id, std::uint32_t place, const Held& held);
  void remove(SubscriptionId id, std::uint32_t place);
  /// Adds one dominator to each message from `first` on; those that then have `limit` are dropped.
  void dominate(SubscriptionId id, std::uint32_t first, std::uint32_t limit);
  void truncate(SubscriptionId id, std::uint32_t size);
  void assign(SubscriptionId id, std::span<const Held> all);  ///< best first

  std::size_t memory_bytes() const { return blocks_.memory_bytes(); }
  void save(ArchiveWriter& out) const { blocks_.save(out); }
  void load(ArchiveReader& in) { blocks_.load(in); }
  /// Throws a snapshot error if a buffer that was read is not sound or holds another message than
  /// those that `is_live` accepts.
  template <typename IsLive>
  void check_loaded(IsLive&& is_live) const {
    constexpr const char* kWhat = "what a top subscription holds";
    Claims places = blocks_.claim_free();
    subscriptions_.for_each([&](SubscriptionId id) {
      const Head& head = head_of(id);
      expect(head.size_class <= kMaxClass && head.size <= capacity_of(head), kWhat);
      if (head.size_class == 0) return;
      ListArena<Word>::claim(places, head.start,
                             std::uint64_t{capacity_of(head)} * words_per_place(), kWhat);
      for (std::uint32_t place = 0; place < head.size; ++place) {
        const Held here = held(id, place);
        expect(is_live(here.message) && here.units >= kLowestUnits, kWhat);  // false for NaN
        expect(place == 0 || units_at(head, place - 1) >= here.units, kWhat);
      }
    });
  }

 private:
  using Word = std::uint32_t;
  using Head = BufferHead;
  static constexpr std::uint32_t kMaxClass = 48;  ///< room for a hundred million messages

  const Head& head_of(SubscriptionId id) const { return subscriptions_[id].buffer; }
  /// 0, 4, 8, 16, 24, 32, 48, 64, …: steps that waste no words of the arena's size classes.
  static std::uint32_t capacity_of(std::uint32_t size_class) {
    if (size_class < 3) return 4 * size_class;
    const std::uint32_t power = 16u << (size_class - 3) / 2;
    return size_class % 2 != 0 ? power : power / 2 * 3;
  }
  static std::uint32_t capacity_of(const Head& head) { return capacity_of(head.size_class); }
  static std::uint32_t class_for(std::uint32_t size);
  /// One more at the end: what is inserted, and a column need not begin with a line.
  static void prefetch_words(const Word* first, std::uint32_t count) {
    constexpr std::uint32_t kLine = 64 / sizeof(Word);
    for (std::uint32_t word = 0; word < count; word += kLine) prefetch_line(first + word);
    prefetch_line(first + count);
  }
  std::uint32_t words_per_place() const { return unit_words_ + 1 + (counts_dominators_ ? 1 : 0); }
  Word* messages_of(const Head& head) {
    return blocks_.at(head.start) + capacity_of(head) * unit_words_;
  }
  const Word* messages_of(const Head& head) const {
    return blocks_.at(head.start) + capacity_of(head) * unit_words_;
  }
  Word* dominators_of(const Head& head) { return messages_of(head) + capacity_of(head); }
  const Word* dominators_of(const Head& head) const {
    return messages_of(head) + capacity_of(head);
  }
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
  void resize_block(Head& head, std::uint32_t size_class);

  TopSubscriptions& subscriptions_;
  std::uint32_t unit_words_;
  bool counts_dominators_;
  ListArena<Word> blocks_;
};

}  // namespace nearcast
