#include "nearcast/engine/ledger.h"

#include <algorithm>
#include <array>
#include <string>

#include "nearcast/base/claims.h"
#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

constexpr std::array<std::uint8_t, kMaxWidth> kNobody{};

}  // namespace

LifeColumns Ledger::apply(const EventTable& events, std::span<const std::uint8_t> places) {
  if (places.size() != events.size() * width_) {
    throw Error(ErrorKind::kInvalidParameter, "places", std::to_string(places.size()) + " bytes",
                std::to_string(events.size() * width_));
  }
  LifeColumns out;
  out.places.assign(places.begin(), places.end());
  out.places_were.resize(places.size());
  out.is_kept.resize(events.size());
  out.end.assign(events.size(), EventRow::kNotGiven);
  out.clock.reserve(events.size());
  Event event;
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (!events[row].is_out) {
      events.read_outline(row, event);
      apply(event, static_cast<std::int64_t>(row), out);
    }
    out.clock.push_back(life_.clock());
  }
  return out;
}

void Ledger::apply(const Event& event, std::int64_t row, LifeColumns& out) {
  const double now = life_.moment_of(event);
  try {
    life_.check(event, now);
  } catch (const Error& error) {
    out.rejected.emplace_back(row, error);
    std::fill_n(out.places.begin() + row * static_cast<std::int64_t>(width_), width_, 0);
    return;
  }
  while (true) {
    const Life::Due due = life_.next_due(now);
    if (const auto* message = std::get_if<MessageId>(&due)) {
      leave(*message, true, row, out);
    } else if (const auto* subscriber = std::get_if<Subscriber>(&due)) {
      end(*subscriber, true, row, out);
    } else {
      break;
    }
  }
  life_.set_clock(now);
  carry_out(event, row, out);
  life_.messages().forget_dropped();
}

void Ledger::carry_out(const Event& event, std::int64_t row, LifeColumns& out) {
  switch (event.op) {
    case Op::kSubscribe: {
      if (const auto old = event.replaces ? life_.find(event.id) : std::nullopt)
        end(*old, false, row, out);
      Slots& own = slots_[static_cast<std::size_t>(event.mode)];
      std::uint32_t slot = static_cast<std::uint32_t>(own.is_used.size());
      if (own.free.empty()) {
        own.is_used.resize(slot + 1);
      } else {
        slot = own.free.back();
        own.free.pop_back();
      }
      own.is_used[slot] = 1;
      hold(own.places, slot, row, out);
      life_.begin(event.id, {event.mode, SubscriptionId{slot}}, event.expires);
      return;
    }
    case Op::kPublish: {
      if (const auto old = event.replaces ? life_.messages().find(event.id) : std::nullopt)
        leave(*old, false, row, out);
      const double ends = life_.end_of(event, life_.clock());
      if (!(ends > life_.clock())) return;
      const MessageId added = life_.messages().add(event.id, {{}, {}, Place::at({}), ends});
      hold(message_places_, raw(added), row, out);
      out.is_kept[static_cast<std::size_t>(row)] = 1;
      out.end[static_cast<std::size_t>(row)] = ends;
      if (const auto surplus = life_.surplus()) leave(*surplus, true, row, out);
      return;
    }
    case Op::kMove: {
      const Subscriber moved = life_.require(event.id);
      Array<std::uint8_t>& all = slots_[static_cast<std::size_t>(moved.mode)].places;
      tell(held(all, raw(moved.slot)), row, out);
      hold(all, raw(moved.slot), row, out);
      return;
    }
    case Op::kAdvance:
      return;
    case Op::kRetract:
      if (const auto message = life_.messages().find(event.id)) leave(*message, false, row, out);
      return;
    case Op::kUnsubscribe:
      end(life_.require(event.id), false, row, out);
      return;
  }
}

Ledger::Bits Ledger::held(const Array<std::uint8_t>& all, std::size_t slot) const {
  if ((slot + 1) * width_ > all.size()) return Bits(kNobody).first(width_);
  return all.view().subspan(slot * width_, width_);
}

void Ledger::tell(Bits holders, std::int64_t row, LifeColumns& out) const {
  const std::size_t first = static_cast<std::size_t>(row) * width_;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    out.places[first + i] |= holders[i];
    out.places_were[first + i] = holders[i];
  }
}

void Ledger::hold(Array<std::uint8_t>& all, std::size_t slot, std::int64_t row,
                  const LifeColumns& out) {
  if (all.size() < (slot + 1) * width_) all.resize((slot + 1) * width_);
  const std::size_t first = static_cast<std::size_t>(row) * width_;
  for (std::size_t i = 0; i < width_; ++i) all[slot * width_ + i] = out.places[first + i];
}

void Ledger::leave(MessageId message, bool is_expired, std::int64_t row, LifeColumns& out) {
  const Bits holders = held(message_places_, raw(message));
  if (!is_expired) tell(holders, row, out);
  report(life_.messages().word(message), true, is_expired, row, holders, out);
  life_.messages().drop(message);
}

void Ledger::end(Subscriber subscriber, bool is_expired, std::int64_t row, LifeColumns& out) {
  Slots& own = slots_[static_cast<std::size_t>(subscriber.mode)];
  const Bits holders = held(own.places, raw(subscriber.slot));
  if (!is_expired) tell(holders, row, out);
  report(life_.name(subscriber.mode, subscriber.slot), false, is_expired, row, holders, out);
  own.is_used[raw(subscriber.slot)] = 0;
  own.free.push_back(raw(subscriber.slot));
  life_.end(subscriber);
}

void Ledger::report(std::string_view id, bool is_message, bool is_expired, std::int64_t row,
                    Bits holders, LifeColumns& out) {
  out.event.push_back(row);
  out.gone_from.insert(out.gone_from.end(), holders.begin(), holders.end());
  out.id.push_back(id);
  out.is_message.push_back(is_message ? 1 : 0);
  out.is_expired.push_back(is_expired ? 1 : 0);
}

void Ledger::save(ArchiveWriter& out) const {
  life_.save(out);
  for (const Slots& own : slots_) own.is_used.save(out);
  out.value(static_cast<std::uint64_t>(width_));
  for (const Slots& own : slots_) own.places.save(out);
  message_places_.save(out);
}

void Ledger::load(ArchiveReader& in) {
  life_.load(in, Claims(0));
  std::size_t most = 0, count = 0;
  for (Slots& own : slots_) {
    own.is_used.load(in);
    most = std::max(most, own.is_used.size());
    for (std::uint32_t slot = 0; slot < own.is_used.size(); ++slot) {
      if (own.is_used[slot] != 0) {
        ++count;
      } else {
        own.free.push_back(slot);
      }
    }
  }
  width_ = in.value<std::uint64_t>();
  expect(width_ <= kMaxWidth, "how many hold something");
  for (Slots& own : slots_) own.places.load(in);
  message_places_.load(in);
  if (!in.is_checking()) return;
  life_.check_loaded(most, count, [&](ModeId mode, SubscriptionId slot) {
    const Slots& own = slots_[static_cast<std::size_t>(mode)];
    return raw(slot) < own.is_used.size() && own.is_used[raw(slot)] != 0;
  });
}

}  // namespace nearcast
