/// The conditions of subscriptions, by slot: what their clauses and areas do not decide.
///
/// Most subscriptions have none, and cost nothing here.
///
///   per slot    4 bytes, up to the highest slot that has a condition
///   record      head: words of the program << 1 | is there an excluded area?
///               [number of the excluded area], program
///
/// Each token of a program is a use of its word, which this holds. Excluded areas are those of a
/// store of their own, which has no clauses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/model/condition_program.h"
#include "nearcast/model/facts.h"
#include "nearcast/model/subscription_store.h"
#include "nearcast/model/term_registry.h"

namespace nearcast {

class Conditions {
 public:
  Conditions(Vocabulary& words, TermRegistry& terms) : words_(words), terms_(terms) {}

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  bool has(SubscriptionId id) const { return raw(id) < slots_.size() && slots_[raw(id)] != 0; }

  /// Throws a capacity error if a condition of this size has no room.
  void check_room(ProgramView program) const;
  /// The subscription has none yet. The uses of the program's words are this object's from now on;
  /// the caller has counted their terms.
  void add(SubscriptionId id, ProgramView program, const Area* excluded);
  void remove(SubscriptionId id);                     ///< also if it has none
  void copy(SubscriptionId from, SubscriptionId to);  ///< also if it has none

  /// Does the condition hold for these facts? True if there is none. With a memo, which is for
  /// excluded areas alone, shapes that several of them have are decided once for a place.
  bool accepts(SubscriptionId id, const Facts& facts, ShapeMemo* memo = nullptr) const {
    return !has(id) || decides_for(id, facts, memo);
  }
  /// Pull what accepts() reads into the cache: first step 0, then step 1.
  void prefetch(SubscriptionId id, int step) const {
    if (raw(id) >= slots_.size()) return;
    if (step == 0) {
      prefetch_line(&slots_[raw(id)]);
    } else if (slots_[raw(id)] != 0) {
      prefetch_line(words_of_.at(slots_[raw(id)] - 1));
    }
  }
  bool excludes(SubscriptionId id, const Place& place) const;  ///< does the excluded area?
  /// Appends the ranges without which the condition does not hold; none if there is no condition.
  void ranges(SubscriptionId id, std::vector<NumberRange>& out) const {
    if (has(id)) ranges_in(record(id).program, out);
  }
  std::optional<Area> excluded(SubscriptionId id) const;

  void count_uses(std::vector<std::uint32_t>& uses) const;
  void count_terms(TermRegistry& terms) const;
  std::size_t memory_bytes() const {
    return slots_.memory_bytes() + words_of_.memory_bytes() + excluded_.memory_bytes();
  }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Throws a snapshot error if what was read is not sound, has a token that is not known, or is of
  /// a subscription that is_used(id) does not accept.
  template <typename IsUsed>
  void check_loaded(const Claims& known_tokens, IsUsed&& is_used) const {
    check_records(known_tokens);
    for_each([&](SubscriptionId id) { expect(is_used(id), kWhat); });
  }

  /// Calls visit(id) for each subscription that has one.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot] != 0) visit(SubscriptionId{slot});
    }
  }

 private:
  using Word = std::uint32_t;
  static constexpr const char* kWhat = "the condition of a subscription";

  struct Record {
    std::optional<SubscriptionId> excluded;
    ProgramView program;
    Word size;  ///< of the record
  };
  Record record(SubscriptionId id) const;
  bool decides_for(SubscriptionId id, const Facts& facts, ShapeMemo* memo) const;
  void write(SubscriptionId id, ProgramView program, std::optional<SubscriptionId> excluded);
  void check_records(const Claims& known_tokens) const;
  Vocabulary& words_;
  TermRegistry& terms_;
  std::size_t count_ = 0;
  Array<Word> slots_;  ///< position + 1 in words_of_; 0: no condition
  ListArena<Word> words_of_;
  SubscriptionStore excluded_;
};

}  // namespace nearcast
