/// What is there, and until when: the clock, the window, the users' ids of all subscriptions, the
/// live messages, and when each of them goes. Nothing is matched here.
///
/// An event happens at max(clock, its time). What is due by then goes first, in order of expiry. An
/// event that is rejected changes nothing, the clock included: check() judges it *as if* what is
/// due had gone, before any of it goes. So an event takes these calls, in this order:
///
///   moment_of(), check()     may it happen?
///   next_due(), end() …      until nothing is due
///   set_clock()
///   begin(), end(), the messages' add() and drop(): what the event itself does
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>

#include "nearcast/base/archive.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/slot_heap.h"
#include "nearcast/life/event.h"
#include "nearcast/life/live_messages.h"
#include "nearcast/model/external_ids.h"

namespace nearcast {

/// At most `count` live messages, or `seconds` of life; none: only messages with an expiry live.
struct Window {
  std::optional<std::uint64_t> count;
  std::optional<double> seconds;

  bool is_set() const { return count.has_value() || seconds.has_value(); }
};

/// Where a subscription is kept: slots are counted by mode.
struct Subscriber {
  ModeId mode;
  SubscriptionId slot;
};

class Life {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  explicit Life(Window window) : window_(window) {}

  const Window& window() const { return window_; }
  double clock() const { return clock_; }
  void set_clock(double now) { clock_ = now; }

  /// When an event happens.
  double moment_of(const Event& event) const;
  /// Throws the error that rejects an event at this moment.
  void check(const Event& event, double now) const;

  /// What goes next of all that is due by `now`, or nothing. At the same moment messages go first:
  /// a subscription expires like an unsubscribe at that time, before which everything due has gone.
  using Due = std::variant<std::monostate, MessageId, Subscriber>;
  Due next_due(double now) const;

  // ---- subscriptions ---------------------------------------------------------------------------
  std::size_t subscriptions() const { return ids_.size(); }
  std::optional<Subscriber> find(std::string_view id) const;
  Subscriber require(std::string_view id) const;  ///< throws an unknown-id error
  std::string_view name(ModeId mode, SubscriptionId slot) const {
    return ids_.word(number(mode, slot));
  }
  std::optional<double> expires(Subscriber at) const {
    const SlotHeap& waiting = expiries(at.mode);
    return waiting.has(raw(at.slot)) ? std::optional(waiting.key(raw(at.slot))) : std::nullopt;
  }
  void begin(std::string_view id, Subscriber at, std::optional<double> expires);
  void end(Subscriber at);

  // ---- messages --------------------------------------------------------------------------------
  const LiveMessages& messages() const { return messages_; }
  LiveMessages& messages() { return messages_; }
  /// When a message that is published now goes: at its own expiry or at the window's, which counts
  /// from its own time, whichever is first. Not after `now`: it is not kept.
  double end_of(const Event& event, double now) const;
  /// The message that must go because the window holds one too many.
  std::optional<MessageId> surplus() const;

  std::size_t id_bytes() const { return ids_.memory_bytes(); }
  std::size_t expiry_bytes() const;

  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in, const Claims& known_tokens);
  /// Throws a snapshot error unless exactly those subscriptions have ids that has(mode, slot)
  /// accepts: `count` of them, with slots below `slots`.
  template <typename Has>
  void check_loaded(std::size_t slots, std::size_t count, Has&& has) const {
    ids_.check_loaded(slots * kModes, count, /*has_to_be_words=*/true, [&](std::uint32_t number) {
      return has(static_cast<ModeId>(Ids::group_of(number)), SubscriptionId{Ids::slot_of(number)});
    });
    for (int mode = 0; mode < kModes; ++mode) {
      for (const SlotHeap::Item& item : expiries_[mode].items()) {
        expect(has(static_cast<ModeId>(mode), SubscriptionId{item.slot}), kExpiry);
      }
    }
  }

 private:
  using Ids = GroupedIds<kModes>;
  static constexpr const char* kExpiry = "when a subscription expires";

  static std::uint32_t number(ModeId mode, SubscriptionId slot) {
    return Ids::number_of(static_cast<std::uint32_t>(mode), raw(slot));
  }
  SlotHeap& expiries(ModeId mode) { return expiries_[static_cast<std::size_t>(mode)]; }
  const SlotHeap& expiries(ModeId mode) const { return expiries_[static_cast<std::size_t>(mode)]; }

  /// The subscription, unless it is gone by `now`.
  std::optional<Subscriber> find_at(std::string_view id, double now) const;
  void check_subscribe(const Event& event, double now) const;
  void check_publish(const Event& event, double now) const;
  static void check_move(const Event& event, ModeId mode);

  Window window_;
  double clock_ = 0;
  Ids ids_;
  std::array<SlotHeap, kModes> expiries_;  ///< of the subscriptions that expire, by mode
  LiveMessages messages_;
};

}  // namespace nearcast
