#include "nearcast/engine/hub.h"

#include "nearcast/base/errors.h"
#include "nearcast/engine/word_uses.h"
#include "nearcast/modes/versions.h"
#include "nearcast/text/text_tokens.h"

namespace nearcast {

Hub::Hub(const std::string& index, const GivenParameters& parameters, Window window,
         TopSettings top, bool is_safe)
    : life_(window),
      match_(index, parameters, words_, terms_, life_, is_safe),
      rank_(index, parameters, words_, terms_, life_),
      top_(words_, terms_, life_, std::move(top)) {}

bool Hub::apply(const Event& event, std::int64_t row, ChangeColumns& out) {
  Step step{row, life_.moment_of(event), out};
  try {
    if (event.op != Op::kUnsubscribe && event.op != Op::kRetract) room_.check();
    life_.check(event, step.now);
    if (!event.said.empty()) said_[static_cast<std::size_t>(event.mode)].check_room(event.said);
  } catch (const Error& error) {
    out.rejected.emplace_back(row, error);
    return false;
  }
  const ListRoom::Change change(room_);
  for (Mode* mode : modes_) mode->begin_event();
  expire(step);
  life_.set_clock(step.now);
  carry_out(event, step);
  if (!event.surplus.empty()) let_go(event.surplus, step);
  finish(step);
  return true;
}

void Hub::expire(Step& step) {
  while (true) {
    const Life::Due due = life_.next_due(step.now);
    if (const auto* message = std::get_if<MessageId>(&due)) {
      leave(*message, Reason::kExpired, step);
    } else if (const auto* subscriber = std::get_if<Subscriber>(&due)) {
      end(*subscriber);
    } else {
      return;
    }
  }
}

void Hub::carry_out(const Event& event, Step& step) {
  switch (event.op) {
    case Op::kSubscribe:
      subscribe(event, step);
      return;
    case Op::kPublish:
      publish(event, step);
      return;
    case Op::kMove: {
      const Subscriber subscriber = life_.require(event.id);
      mode(subscriber.mode).move(subscriber.slot, event, step);
      return;
    }
    case Op::kRetract:
      if (const auto message = life_.messages().find(event.id))
        leave(*message, Reason::kRetracted, step);
      return;
    case Op::kUnsubscribe:
      end(life_.require(event.id));
      return;
    case Op::kAdvance:
      return;
  }
}

/// The new subscription is added before the old one ends: if it cannot be, nothing has changed, and
/// words that both have stay known.
void Hub::subscribe(const Event& event, Step& step) {
  const auto old = event.replaces ? life_.find(event.id) : std::nullopt;
  const Subscriber added{event.mode, mode(event.mode).subscribe(event, old.has_value(), step)};
  if (old) {
    replaced_.emplace(added);
    const Mode& before = mode(old->mode);
    if (before.holds_set(old->slot)) replaced_->held = before.last_told(old->slot);
    end(*old);
  }
  life_.begin(event.id, added, event.expires);
  said_[static_cast<std::size_t>(added.mode)].set(raw(added.slot), event.said);
}

/// What a subscription holds changes by the net difference, once its successor's list is there.
void Hub::report_replaced(Step& step) {
  const auto [mode_id, slot] = replaced_->successor;
  const Mode& own = mode(mode_id);
  std::vector<HeldMessage> now;
  if (own.holds_set(slot)) now = own.results(slot);
  const LiveMessages& messages = life_.messages();
  for_each_pair(
      replaced_->held, now, [](const HeldMessage& held) { return held.id; },
      [&](const HeldMessage* before, const HeldMessage* after) {
        if (before != nullptr && after != nullptr) return;
        const auto [message, score] = before != nullptr ? *before : *after;
        const std::string_view word = messages.word(message);
        const bool is_gone = messages.find(word) != message;
        step.report(life_.name(mode_id, slot), word,
                    before != nullptr ? ChangeKind::kRemoved : ChangeKind::kAdded,
                    is_gone ? Reason::kExpired : Reason::kChanged, score);
      });
  replaced_.reset();
}

void Hub::publish(const Event& event, Step& step) {
  const double end = life_.end_of(event, step.now);
  const bool is_kept = end > step.now;
  const auto old = event.replaces ? life_.messages().find(event.id) : std::nullopt;
  // A version that is not kept takes no place: the old one is taken back.
  if (old) leave(*old, is_kept ? Reason::kChanged : Reason::kRetracted, step);
  const Saying saying{event.words, event.attributes};
  Newcomer newcomer{
      event.id, {{}, event.place, {&saying, nullptr}}, {}, old.has_value() && is_kept};
  if (is_kept) {
    newcomer.kept = keep(event, end);
  } else {
    read_text(words_, event.words, false, tokens_, counts_);
  }
  newcomer.message.tokens = tokens_;
  for (Mode* mode : modes_) mode->publish(newcomer, step);
  if (const auto surplus = life_.surplus()) leave(*surplus, Reason::kExpired, step);
}

MessageId Hub::keep(const Event& event, double end) {
  read_kept_text(words_, event.words, tokens_, counts_, order_);
  attributes_.clear();
  for (const Attribute& attribute : event.attributes) append_attribute(attribute, attributes_);
  return life_.messages().add(event.id, {tokens_, counts_, event.place, end, order_, attributes_});
}

void Hub::leave(MessageId message, Reason reason, Step& step) {
  for (Mode* mode : modes_) mode->leave(message, reason, step);
  life_.messages().drop(message);
  room_.has_released();
}

void Hub::let_go(std::string_view surplus, Step& step) {
  if (const auto message = life_.messages().find(surplus)) leave(*message, Reason::kExpired, step);
}

void Hub::end(Subscriber subscriber) {
  mode(subscriber.mode).end(subscriber.slot);
  life_.end(subscriber);
  said_[static_cast<std::size_t>(subscriber.mode)].forget(raw(subscriber.slot));
  room_.has_released();
}

/// What has left is read until here: changes are told in the users' words.
void Hub::finish(Step& step) {
  for (Mode* mode : modes_) mode->finish_event(step);
  if (replaced_) report_replaced(step);
  LiveMessages& messages = life_.messages();
  for (const MessageId id : messages.dropped()) words_.release_all(messages.store().tokens(id));
  messages.forget_dropped();
  for (Mode* mode : modes_) mode->catch_up(slice_);
}

void Hub::trim() {
  match_.trim();
  nearcast::trim(tokens_);
  nearcast::trim(counts_);
  nearcast::trim(order_);
  nearcast::trim(attributes_);
}

ChangeColumns Hub::weigh(const EpochColumns* epoch) {
  ChangeColumns out;
  Step step{0, life_.clock(), out};
  const auto weigh_all = [&](const Epoch* in_tokens) {
    for (Mode* mode : modes_) mode->begin_event();
    for (Mode* mode : modes_) mode->weigh(in_tokens, step);
    for (Mode* mode : modes_) mode->finish_event(step);
  };
  if (epoch == nullptr) {
    weigh_all(nullptr);
  } else {
    with_tokens(*epoch, words_, [&](const Epoch& in_tokens) { weigh_all(&in_tokens); });
  }
  return out;
}

void Hub::check_invariants() const {
  words_.check_invariants();
  check_uses();
  for (const Mode* mode : modes_) mode->check_invariants();
  const LiveMessages& messages = life_.messages();
  ensure(messages.store().size() == messages.size(), "hub: a dropped message is still there");
  std::size_t subscriptions = 0;
  for (int id = 0; id < kModes; ++id) {
    for (std::uint32_t slot = 0; slot < modes_[id]->slots(); ++slot) {
      const Subscriber own{static_cast<ModeId>(id), SubscriptionId{slot}};
      if (!modes_[id]->has(own.slot)) continue;
      const auto found = life_.find(life_.name(own.mode, own.slot));
      ensure(found && found->mode == own.mode && found->slot == own.slot,
             "hub: an id leads to another subscription");
      ++subscriptions;
    }
  }
  ensure(subscriptions == life_.subscriptions(), "hub: ids and subscriptions differ in number");
}

void Hub::check_uses() const {
  std::vector<std::uint32_t> uses(words_.slots());
  for (const Mode* mode : modes_) mode->count_uses(uses);
  const MessageStore& live = life_.messages().store();
  live.for_each_by_age([&](MessageId id) {
    for (const Token token : live.tokens(id)) ++uses[raw(token)];
  });
  check_word_uses(words_, uses);
  TermRegistry terms;
  for (const Mode* mode : modes_) mode->count_terms(terms);
  ensure(terms == terms_, "hub: a term is used more or less often than was counted");
}

}  // namespace nearcast
