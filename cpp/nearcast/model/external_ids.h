/// The users' ids of things that have slots: whole numbers or words, one kind per table.
///
/// Things may come in groups whose slots are counted apart, as subscriptions of several modes do.
/// One look-up finds an id in all groups. What it finds is a number: slot · kGroups + group.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/slot_table.h"

namespace nearcast {

using ExternalId = std::variant<std::int64_t, std::string_view>;

std::string quoted(const ExternalId& id);  ///< for error messages

template <std::uint32_t kGroups>
class GroupedIds {
 public:
  static constexpr std::uint32_t kNone = SlotTable::kNone;

  static constexpr std::uint32_t number_of(std::uint32_t group, std::uint32_t slot) {
    return slot * kGroups + group;
  }
  static constexpr std::uint32_t group_of(std::uint32_t number) { return number % kGroups; }
  static constexpr std::uint32_t slot_of(std::uint32_t number) { return number / kGroups; }

  std::size_t size() const { return table_.size(); }
  bool has_words() const { return kind_ == Kind::kWords; }
  std::size_t slots(std::uint32_t group) const {  ///< ids that are words have slots below this
    return columns_[group].words.size();
  }

  /// The number of an id, or kNone. Asking with the wrong kind finds nothing.
  std::uint32_t find(const ExternalId& id) const;
  std::uint32_t require(const ExternalId& id) const;  ///< throws an unknown-id error
  void prefetch(const ExternalId& id) const;          ///< what find() and bind() look at first
  /// Throws a duplicate-id error, or an invalid-subscription error if the table holds ids of the
  /// other kind.
  void check_new(const ExternalId& id) const;
  void check_room(std::string_view word) const;           ///< throws a capacity error
  void bind(const ExternalId& id, std::uint32_t number);  ///< neither is in use
  void release(std::uint32_t number);
  void hide(std::uint32_t number);    ///< release() in two steps: it is not found any more, …
  void forget(std::uint32_t number);  ///< … and then cannot be read
  ExternalId id(std::uint32_t number) const;
  std::int64_t whole(std::uint32_t number) const {
    const Column& own = columns_[group_of(number)];
    const std::uint32_t slot = slot_of(number);
    const std::uint64_t high = own.high.empty() ? 0 : own.high[slot];
    return static_cast<std::int64_t>(high << 32 | own.low[slot]);
  }
  std::string_view word(std::uint32_t number) const;
  void reserve(std::size_t count);

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Throws a snapshot error unless exactly the `count` numbers below `numbers` that `is_used`
  /// accepts have ids, which are words if `has_to_be_words`.
  template <typename IsUsed>
  void check_loaded(std::size_t numbers, std::size_t count, bool has_to_be_words,
                    IsUsed&& is_used) const {
    expect(kind_ <= Kind::kWords && (count == 0 || kind_ == Kind::kWords ||
                                     (kind_ == Kind::kNumbers && !has_to_be_words)),
           "the kind of ids");
    Claims letters = letters_.claim_free();
    for (std::uint32_t number = 0; number < numbers && count != 0; ++number) {
      if (is_used(number)) check_number(number, letters);
    }
    table_.check_loaded(numbers, count, is_used,
                        [&](std::uint32_t number) { return hash_of_number(number); });
  }

 private:
  void check_number(std::uint32_t number, Claims& letters) const;
  static constexpr std::size_t kMaxLetters = std::size_t{1} << 30;  ///< of one id

  enum class Kind : std::uint32_t { kUndecided, kNumbers, kWords };

  void check_kind(const ExternalId& id) const;
  std::uint32_t hash_of_number(std::uint32_t number) const;
  static std::uint32_t units(std::size_t length) {
    return 1 + static_cast<std::uint32_t>((length + 3) / 4);
  }

  /// Of one group, by slot.
  struct Column {
    Array<std::uint32_t> low, high;  ///< when ids are numbers; no high: all are below 2³²
    Array<std::uint32_t> words;      ///< when ids are words: position in letters_
  };

  Kind kind_ = Kind::kUndecided;
  SlotTable table_;
  std::array<Column, kGroups> columns_;
  ListArena<std::uint32_t> letters_;  ///< length in bytes, then the bytes
};

using ExternalIds = GroupedIds<1>;  ///< of things of one group: numbers are slots

}  // namespace nearcast
