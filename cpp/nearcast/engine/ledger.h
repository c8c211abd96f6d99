/// Life alone, batch by batch: which events happen, and what goes because of them. No texts, no
/// matching.
///
/// A pipeline of many machines has one window and one clock, while each machine sees a part of the
/// events. So life is decided in one place, with the same rules as in a hub, and told to the
/// others.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nearcast/columns/change_columns.h"
#include "nearcast/columns/columns.h"
#include "nearcast/engine/event_table.h"
#include "nearcast/life/life.h"

namespace nearcast {

/// What a batch did: rows that were rejected, and what went, in order, with the row that caused it.
struct LifeColumns {
  std::vector<std::pair<std::int64_t, Error>> rejected;
  std::vector<double> clock;        ///< after each row
  std::vector<std::int64_t> event;  ///< of each departure, as all that follow
  WordsOut id;
  std::vector<std::uint8_t> is_message;  ///< 0: a subscription
  std::vector<std::uint8_t> is_expired;  ///< 0: retracted, unsubscribed, or replaced by this event
  std::vector<std::uint8_t> is_kept;     ///< by row: does it publish a message that lives?
  std::vector<double> end;  ///< by row: when that message goes by itself (infinity: it does not)
  // Bits, `width` bytes each.
  std::vector<std::uint8_t> places;       ///< by row: who is told of it
  std::vector<std::uint8_t> places_were;  ///< by row: who had what it moves or replaces
  std::vector<std::uint8_t> gone_from;    ///< of each departure: who had it
};

constexpr std::size_t kMaxWidth = 512;  ///< bytes of the bits that say who holds something

/// It also remembers who holds what: bits of the caller's, `width` bytes for each subscription and
/// each live message. What moves or gets another version stays where it was, too: only there it is
/// known what it was before.
class Ledger {
 public:
  explicit Ledger(Window window, std::size_t width = 0) : life_(window), width_(width) {}

  /// Rows that are left out do nothing. `places` say, in `width` bytes a row, who must hear of it:
  /// of a subscription, a move or a message.
  LifeColumns apply(const EventTable& events, std::span<const std::uint8_t> places = {});

  const Life& life() const { return life_; }
  std::size_t width() const { return width_; }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  void apply(const Event& event, std::int64_t row, LifeColumns& out);
  void carry_out(const Event& event, std::int64_t row, LifeColumns& out);
  using Bits = std::span<const std::uint8_t>;
  Bits held(const Array<std::uint8_t>& all, std::size_t slot) const;
  /// Those that had it are told of the row, too.
  void tell(Bits holders, std::int64_t row, LifeColumns& out) const;
  void hold(Array<std::uint8_t>& all, std::size_t slot, std::int64_t row, const LifeColumns& out);
  void leave(MessageId message, bool is_expired, std::int64_t row, LifeColumns& out);
  void end(Subscriber subscriber, bool is_expired, std::int64_t row, LifeColumns& out);
  static void report(std::string_view id, bool is_message, bool is_expired, std::int64_t row,
                     Bits holders, LifeColumns& out);

  /// Slots of one mode that are in use, and of those that were.
  struct Slots {
    Array<std::uint8_t> is_used;
    Array<std::uint32_t> free;
    Array<std::uint8_t> places;  ///< who holds each
  };

  Life life_;
  std::size_t width_;
  Array<std::uint8_t> message_places_;
  std::array<Slots, kModes> slots_;
};

}  // namespace nearcast
