#include "nearcast/modes/rank_mode.h"

#include <algorithm>
#include <utility>

#include "nearcast/base/errors.h"
#include "nearcast/model/semantics.h"

namespace nearcast {

SubscriptionId RankMode::subscribe(const Event& event, bool is_successor, Step& step) {
  const SubscriptionId id =
      set_.add(event.wanted, std::get<Rect>(*event.area), {event.alpha, event.threshold},
               event.where.empty() ? nullptr : &event.where);
  if (!event.is_live) return id;
  if (!results_.is_holding()) results_.hold();
  holders_.set(id, true);
  if (is_successor) return id;
  results_.find(id, after_, found_);
  for (const auto& [message, score] : after_) {
    step.report(event.id, messages().word(message), ChangeKind::kAdded, Reason::kSubscribed, score);
  }
  return id;
}

void RankMode::end(SubscriptionId id) {
  holders_.set(id, false);
  set_.remove(id);
}

void RankMode::move(SubscriptionId id, const Event& event, Step& step) {
  const bool holds = holders_.has(id);
  if (holds) results_.find(id, before_, found_);
  set_.replace_area(id, std::get<Rect>(*event.area));
  if (holds) compare(event.id, id, before_, step);
}

void RankMode::publish(const Newcomer& newcomer, Step& step) {
  if (newcomer.kept && results_.is_holding()) results_.keep(*newcomer.kept);
  set_.rank(newcomer.message, ranked_);
  if (newcomer.is_successor) {
    for (std::size_t i = 0; i < ranked_.ids().size(); ++i) {
      versions_.add_now(ranked_.ids()[i], ranked_.scores()[i]);
    }
    versions_.report(
        newcomer.id, [&](SubscriptionId id) { return holders_.has(id); },
        [&](SubscriptionId id) { return life_.name(ModeId::kRank, id); }, step);
    return;
  }
  for (std::size_t i = 0; i < ranked_.ids().size(); ++i) {
    step.report(life_.name(ModeId::kRank, ranked_.ids()[i]), newcomer.id, ChangeKind::kAdded,
                Reason::kPublished, ranked_.scores()[i]);
  }
}

void RankMode::leave(MessageId message, Reason reason, Step& step) {
  const bool is_replaced = reason == Reason::kChanged;
  if (is_replaced) versions_.start();
  if (is_replaced || !holders_.empty()) {
    set_.rank(messages().store().message(message), ranked_);
    for (std::size_t i = 0; i < ranked_.ids().size(); ++i) {
      const SubscriptionId id = ranked_.ids()[i];
      if (is_replaced) {
        versions_.add_before(id, ranked_.scores()[i]);
      } else if (holders_.has(id)) {
        step.report(life_.name(ModeId::kRank, id), messages().word(message), ChangeKind::kRemoved,
                    reason, ranked_.scores()[i]);
      }
    }
  }
  if (results_.is_holding()) results_.drop(message);
}

/// Reports what a set gains and loses against what it held before; both are in the order of ids.
void RankMode::compare(std::string_view name, SubscriptionId id,
                       std::span<const HeldMessage> before, Step& step) {
  results_.find(id, after_, found_);
  const auto report_missing = [&](std::span<const HeldMessage> from,
                                  std::span<const HeldMessage> in, ChangeKind kind) {
    for (const auto& [message, score] : from) {
      const auto at = std::lower_bound(
          in.begin(), in.end(), message,
          [](const HeldMessage& held, MessageId wanted) { return held.id < wanted; });
      if (at != in.end() && at->id == message) continue;
      step.report(name, messages().word(message), kind, Reason::kMoved, score);
    }
  };
  report_missing(before, after_, ChangeKind::kRemoved);
  report_missing(after_, before, ChangeKind::kAdded);
}

void RankMode::weigh(const Epoch* epoch, Step& step) {
  std::vector<std::pair<SubscriptionId, std::vector<HeldMessage>>> before;
  holders_.for_each([&](SubscriptionId id) {
    before.emplace_back(id, std::vector<HeldMessage>{});
    results_.find(id, before.back().second, found_);
  });
  set_.weigh(epoch);
  for (const auto& [id, held] : before) compare(life_.name(ModeId::kRank, id), id, held, step);
}

std::vector<HeldMessage> RankMode::results(SubscriptionId id) const {
  std::vector<HeldMessage> held;
  std::vector<MessageId> proposed;
  results_.find(id, held, proposed);
  return held;
}

void RankMode::find_matches(const Question& question, std::vector<SubscriptionId>& out) const {
  if (set_.size() == 0) return;
  RankSink ranked;
  set_.rank(question.message, ranked);
  out.insert(out.end(), ranked.ids().begin(), ranked.ids().end());
}

Definition RankMode::definition(SubscriptionId id) const {
  Definition found = set_.definition(id);
  found.terms.is_live = holders_.has(id);
  return found;
}

Verdict RankMode::explain(SubscriptionId id, const Question& question) const {
  const RankStore& store = set_.store();
  const Message& message = question.message;
  const ScoreParts parts{store.spatial(id, message.place), store.textual(id, message.tokens),
                         store.score(id, message), store.terms(id).threshold};
  FactReader reader;
  return {definition(id), store.accepts(id, parts.score) && set_.accepts(id, message, reader),
          area_touches(store.subscriptions(), id, message.place), parts};
}

SetSizes RankMode::sizes() const {
  SetSizes sizes = set_.sizes();
  sizes.message_index_bytes = results_.memory_bytes();
  return sizes;
}

void RankMode::check_invariants() const {
  set_.check_invariants();
  results_.check_invariants();
}

void RankMode::save(ArchiveWriter& out) const {
  set_.save(out);
  holders_.save(out);
  out.value(static_cast<std::uint64_t>(results_.is_holding()));
}

void RankMode::load(ArchiveReader& in, const Claims& known) {
  set_.load(in, known);
  holders_.load(in);
  if (in.value<std::uint64_t>() != 0) results_.hold();
  if (!in.is_checking()) return;
  constexpr const char* kLive = "which subscriptions are live";
  expect(holders_.empty() || results_.is_holding(), kLive);
  holders_.for_each([&](SubscriptionId id) { expect(set_.has(id), kLive); });
}

}  // namespace nearcast
