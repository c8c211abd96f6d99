/// Live messages, compactly: their tokens and how often each occurs, their places, expiries, and
/// the order in which they were published.
///
///   per message   16 bytes point (of a box: its centre), 8 bytes number, 8 bytes expiry, 8 bytes
///                 outline, 8 bytes neighbours in the order of publication, 4 bytes position of its
///                 record
///   record        header, tokens, [counts, if any word occurs twice], [box],
///                 [order of its words and attributes: model/kept_saying.h]
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/model/kept_saying.h"
#include "nearcast/model/message.h"
#include "nearcast/model/message_outline.h"

namespace nearcast {

/// A message on its way into the store.
struct NewMessage {
  TokenSpan tokens;                       ///< ascending and distinct
  std::span<const std::uint32_t> counts;  ///< how often each occurs; empty: once each
  Place place;
  double expires = std::numeric_limits<double>::infinity();
  TokenSpan order{};              ///< the tokens as they follow each other; kUnknownToken: a gap
  std::string_view attributes{};  ///< as bytes: model/attribute.h
};

/// The middle of a box; of one that crosses the antimeridian, the middle of what it covers.
Point centre_of(const Place& place);

class MessageStore {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  MessageStore() { links_.resize(1); }

  /// The newest message gets the highest number.
  MessageId add(const NewMessage& message);
  /// The message is no longer live: it has no outline and no place in the order, but stays readable
  /// until it is removed.
  void hide(MessageId id);
  void remove(MessageId id);  ///< hidden before, or not

  std::size_t size() const { return live_; }
  std::size_t slots() const { return records_.size(); }  ///< ids are below this
  bool is_live(MessageId id) const { return records_[raw(id)] != 0; }

  TokenSpan tokens(MessageId id) const;
  std::span<const std::uint32_t> counts(MessageId id) const;  ///< empty: once each
  Place place(MessageId id) const;
  Point centre(MessageId id) const { return centres_[raw(id)]; }
  bool is_point(MessageId id) const { return (record(id)[0] & kHasBox) == 0; }
  Message message(MessageId id) const { return {tokens(id), place(id), {nullptr, saying(id)}}; }
  /// What KeptSaying reads, or null.
  const std::uint32_t* saying(MessageId id) const {
    const Word* words = record(id);
    return (words[0] & kHasSaying) == 0 ? nullptr : words + fixed_size_of(words[0]);
  }
  std::uint64_t number(MessageId id) const { return numbers_[raw(id)]; }  ///< order of publication
  double expires(MessageId id) const { return expires_[raw(id)]; }
  std::span<const Outline> outlines() const { return outlines_.view(); }  ///< 0: not live

  std::optional<MessageId> oldest() const { return linked(links_[0].next); }
  std::optional<MessageId> after(MessageId id) const { return linked(links_[raw(id) + 1].next); }
  /// Calls visit(id) for each live message, the oldest first.
  template <typename Visit>
  void for_each_by_age(Visit&& visit) const {
    for (std::uint32_t at = links_[0].next; at != 0; at = links_[at].next) visit(MessageId{at - 1});
  }
  void prefetch(MessageId id, int step) const {
    if (step == 0) {
      prefetch_line(&records_[raw(id)]);
      prefetch_line(&centres_[raw(id)]);
    } else if (records_[raw(id)] != 0) {
      prefetch_line(record(id));
    }
  }

  /// Calls visit(id) for each message, in no order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
      if (is_live(MessageId{slot})) visit(MessageId{slot});
    }
  }

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  /// If the reader is checking, throws a snapshot error if what was read is not sound or has a
  /// token that is not known.
  void load(ArchiveReader& in, const Claims& known_tokens);

 private:
  using Word = std::uint32_t;
  static constexpr Word kHasBox = 0x80000000u;
  static constexpr Word kHasCounts = 0x40000000u;
  static constexpr Word kHasSaying = 0x20000000u;
  static constexpr Word kMaxTokens = 0x1FFFFFFFu;
  static constexpr std::size_t kMaxSlots = 0x7FFFFFFFu;
  static constexpr Word kBoxWords = 8;

  struct Link {
    std::uint32_t previous, next;
  };

  static std::optional<MessageId> linked(std::uint32_t at) {
    return at == 0 ? std::nullopt : std::optional(MessageId{at - 1});
  }
  static Word token_count(Word header) { return header & kMaxTokens; }
  static Word fixed_size_of(Word header) {  ///< without what it says beyond its words
    return 1 + token_count(header) * ((header & kHasCounts) != 0 ? 2 : 1) +
           ((header & kHasBox) != 0 ? kBoxWords : 0);
  }
  static Word size_of(const Word* record) {
    const Word fixed = fixed_size_of(record[0]);
    if ((record[0] & kHasSaying) == 0) return fixed;
    return fixed + static_cast<Word>(KeptSaying(record + fixed).size());
  }
  void check_room(const NewMessage& message) const;
  void write_saying(const NewMessage& message);
  void link(Word slot);  ///< as the newest of all
  void check_loaded(const Claims& known_tokens) const;
  void check_saying(MessageId id, const char* what) const;
  void check_record(MessageId id, const Claims& known_tokens, Claims& words) const;
  const Word* record(MessageId id) const { return words_.at(records_[raw(id)] - 1); }

  std::size_t live_ = 0;
  std::uint64_t next_number_ = 0;
  Array<Point> centres_;
  Array<std::uint64_t> numbers_;
  Array<double> expires_;
  Array<Outline> outlines_;
  Array<Link> links_;    ///< ring in order of publication: element 0 is its head, slot s is s + 1
  Array<Word> records_;  ///< position + 1 in words_; 0: the slot is free
  Array<Word> free_slots_;
  ListArena<Word> words_;
  std::vector<Word> saying_;  ///< of the message that is added
};

}  // namespace nearcast
