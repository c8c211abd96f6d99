/// All subscriptions, compactly: one box, one record of tokens, and the number of a shape only where
/// there is one.
///
/// What indexes hold are *entries*: one per clause. The first clause's entry has the subscription's
/// own number, so a subscription without OR costs nothing extra; further clauses have entries of
/// their own.
///
///   per subscription    32 bytes bounding box, 4 bytes position of its record; a subscription of
///                       one keyword and a box has no record: the 4 bytes are its token
///   record              header, positive tokens, negative tokens, [number of its shape],
///                       [count, further entries]
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/model/shape_store.h"
#include "nearcast/model/subscription.h"

namespace nearcast {

class SubscriptionStore {
 public:
  static constexpr std::size_t kMaxTokens = 8191;  ///< per clause and sign: what a header can count

  /// Indexes pack two flags beside an entry's number.
  static constexpr std::size_t kMaxSlots = std::size_t{1} << 30;

  /// Throws a capacity error, and nothing has changed, if it has no room.
  SubscriptionId add(const Subscription& subscription);
  void remove(SubscriptionId id);
  void replace_area(SubscriptionId id, const Area& area);  ///< id and entries stay

  std::size_t size() const { return live_; }
  std::size_t slots() const { return bounds_.size(); }  ///< ids are below this
  std::size_t entry_slots() const { return slots() + extras_.size(); }
  bool is_live(SubscriptionId id) const { return is_short(raw(id)) || records_[raw(id)] != 0; }

  /// A box that holds the whole area, the area itself if bounds_are_exact().
  const Rect& bounds(SubscriptionId id) const { return bounds_[raw(id)]; }
  bool bounds_are_exact(SubscriptionId id) const { return area_kind(id) <= AreaKind::kBox; }
  AreaKind area_kind(SubscriptionId id) const;
  ShapeStore::Number shape(SubscriptionId id) const;  ///< if the area is more than a box
  Rect split_box(SubscriptionId id) const { return shapes_.box(shape(id)); }  ///< west > east
  const ShapeStore& shapes() const { return shapes_; }
  Area area(SubscriptionId id) const;  ///< a copy of the area as it was subscribed

  SubscriptionId owner(EntryId entry) const;
  Clause clause(EntryId entry) const;
  /// Pull an entry's record into the cache: first step 0, then step 1.
  void prefetch(EntryId entry, int step) const {
    if (is_extra(entry)) {
      prefetch_line(&extras_[raw(entry) & ~kExtraBit]);
    } else if (step == 0) {
      prefetch_line(&records_[raw(entry)]);
    } else if (!is_short(raw(entry))) {
      prefetch_line(words_.at(records_[raw(entry)] - 1));
    }
  }
  /// Is this the only clause? Then an index that meets the entry once need not look for duplicates.
  bool is_only_clause(EntryId entry) const {
    return !is_extra(entry) && (is_short(raw(entry)) || !(record(entry)[0] & kHasExtras));
  }

  /// Calls visit(entry) for each clause.
  template <typename Visit>
  void for_each_entry(SubscriptionId id, Visit&& visit) const;
  /// Calls visit(id) for each subscription.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
      if (is_live(SubscriptionId{slot})) visit(SubscriptionId{slot});
    }
  }

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Throws a snapshot error if what was read is not sound, or has a token that is not known.
  void check_loaded(const Claims& known_tokens) const;

 private:
  struct Check;
  using Word = std::uint32_t;
  struct Extra {
    SubscriptionId owner;
    Word record;  ///< position in words_
  };

  // Header of a record: bits 0–12 number of positive, 13–25 of negative tokens, 26–28 the area's
  // kind.
  static constexpr Word kKindShift = 26;
  static constexpr Word kHasClause = 0x20000000u;
  static constexpr Word kHasExtras = 0x40000000u;
  static constexpr Word kExtraBit = 0x80000000u;  ///< of an EntryId: a further clause

  static Word positives(Word header) { return header & 0x1FFF; }
  static Word negatives(Word header) { return (header >> 13) & 0x1FFF; }
  static AreaKind kind(Word header) { return static_cast<AreaKind>((header >> kKindShift) & 7); }
  static Word tokens(Word header) { return positives(header) + negatives(header); }
  static bool has_shape(Word header) { return kind(header) > AreaKind::kBox; }

  bool is_short(std::uint32_t slot) const { return short_[slot / 64] >> (slot % 64) & 1; }
  void set_short(std::uint32_t slot, bool is_set) {
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    short_[slot / 64] = is_set ? short_[slot / 64] | bit : short_[slot / 64] & ~bit;
  }
  static bool is_extra(EntryId entry) { return (raw(entry) & kExtraBit) != 0; }
  const Word* record(SubscriptionId id) const { return words_.at(records_[raw(id)] - 1); }
  const Word* record(EntryId entry) const;
  std::span<const Word> extras(const Word* record) const;

  void check_room(const Subscription& subscription) const;
  Word write_record(const Clause* clause, AreaKind kind, Word shape,
                    std::span<const Word> extra_entries);
  void free_record(Word position);
  void remove_record(SubscriptionId id);
  void write_first(SubscriptionId id, const Clause* clause, const Area& area,
                   std::span<const Word> further);
  Word add_extra(SubscriptionId owner, const Clause& clause);
  SubscriptionId new_slot();

  std::size_t live_ = 0;
  Array<Rect> bounds_;
  Array<Word> records_;         ///< position + 1 in words_; 0: the slot is free; if short, a token
  Array<std::uint64_t> short_;  ///< bit per slot: no record, one keyword, a box
  Array<Word> free_slots_;
  ListArena<Word> words_;
  Array<Extra> extras_;
  Array<Word> free_extras_;
  ShapeStore shapes_;
};

template <typename Visit>
void SubscriptionStore::for_each_entry(SubscriptionId id, Visit&& visit) const {
  if (is_short(raw(id))) {
    visit(EntryId{raw(id)});
    return;
  }
  const Word* words = record(id);
  if (words[0] & kHasClause) visit(EntryId{raw(id)});
  for (const Word extra : extras(words)) visit(EntryId{extra | kExtraBit});
}

}  // namespace nearcast
