/// The users' ids of things that have slots: whole numbers or words, one kind per table.
#pragma once

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

class ExternalIds {
 public:
  static constexpr std::uint32_t kNone = SlotTable::kNone;

  std::size_t size() const { return table_.size(); }
  bool has_words() const { return kind_ == Kind::kWords; }

  /// The slot of an id, or kNone. Asking with the wrong kind finds nothing.
  std::uint32_t find(const ExternalId& id) const;
  std::uint32_t slot_of(const ExternalId& id) const;  ///< throws an unknown-id error
  void prefetch(const ExternalId& id) const;          ///< what find() and bind() look at first
  /// Throws a duplicate-id error, or an invalid-subscription error if the table holds ids of the
  /// other kind.
  void check_new(const ExternalId& id) const;
  void bind(const ExternalId& id, std::uint32_t slot);  ///< the id is not bound, the slot is free
  void release(std::uint32_t slot);
  void hide(std::uint32_t slot);    ///< release() in two steps: it is not found any more, …
  void forget(std::uint32_t slot);  ///< … and then cannot be read
  ExternalId id(std::uint32_t slot) const;
  std::int64_t number(std::uint32_t slot) const {
    const std::uint64_t high = high_.empty() ? 0 : high_[slot];
    return static_cast<std::int64_t>(high << 32 | low_[slot]);
  }
  std::string_view word(std::uint32_t slot) const;
  void reserve(std::size_t count);

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Throws a snapshot error unless exactly the `count` slots below `slots` that `is_used` accepts
  /// have ids, which are words if `has_to_be_words`.
  template <typename IsUsed>
  void check_loaded(std::size_t slots, std::size_t count, bool has_to_be_words,
                    IsUsed&& is_used) const {
    expect(kind_ <= Kind::kWords && (count == 0 || kind_ == Kind::kWords ||
                                     (kind_ == Kind::kNumbers && !has_to_be_words)),
           "the kind of ids");
    Claims letters = letters_.claim_free();
    for (std::uint32_t slot = 0; slot < slots && count != 0; ++slot) {
      if (is_used(slot)) check_slot(slot, letters);
    }
    table_.check_loaded(slots, count, is_used,
                        [&](std::uint32_t slot) { return hash_of_slot(slot); });
  }

 private:
  void check_slot(std::uint32_t slot, Claims& letters) const;
  static constexpr std::size_t kMaxLetters = std::size_t{1} << 30;  ///< of one id

  enum class Kind : std::uint32_t { kUndecided, kNumbers, kWords };

  void check_kind(const ExternalId& id) const;
  std::uint32_t hash_of_slot(std::uint32_t slot) const;
  static std::uint32_t units(std::size_t length) {
    return 1 + static_cast<std::uint32_t>((length + 3) / 4);
  }

  Kind kind_ = Kind::kUndecided;
  SlotTable table_;
  Array<std::uint32_t> low_, high_;  ///< by slot, when ids are numbers; no high_: all are below 2³²
  Array<std::uint32_t> words_;       ///< by slot, when ids are words: position in letters_
  ListArena<std::uint32_t> letters_;  ///< length in bytes, then the bytes
};

}  // namespace nearcast
