/// Match subscriptions in a hub: a set of them, which of them are live, and how far each live one
/// may go before its result can change.
///
/// The set that a live subscription holds is not stored: it is the live messages that match it
/// (index/moving_index.h). Messages are kept for it from the first live subscription on.
#pragma once

#include <vector>

#include "nearcast/life/life.h"
#include "nearcast/modes/live_flags.h"
#include "nearcast/modes/match_set.h"
#include "nearcast/modes/mode.h"
#include "nearcast/modes/safe_regions.h"
#include "nearcast/modes/versions.h"

namespace nearcast {

class MatchMode final : public Mode {
 public:
  /// `is_safe`: live subscriptions are told how far they may go (modes/safe_regions.h).
  MatchMode(const std::string& index, const GivenParameters& parameters, Vocabulary& words,
            TermRegistry& terms, const Life& life, bool is_safe)
      : life_(life), set_(index, parameters, words, terms), is_safe_(is_safe) {}

  SubscriptionId subscribe(const Event& event, bool is_successor, Step& step) override;
  void end(SubscriptionId id) override;
  void move(SubscriptionId id, const Event& event, Step& step) override;
  void publish(const Newcomer& message, Step& step) override;
  void leave(MessageId message, Reason reason, Step& step) override;
  void catch_up(std::size_t messages) override { set_.catch_up(messages); }

  bool holds_set(SubscriptionId id) const override { return holders_.has(id); }
  std::vector<HeldMessage> results(SubscriptionId id) const override;
  void find_matches(const Question& question, std::vector<SubscriptionId>& out) const override;
  Definition definition(SubscriptionId id) const override {
    Definition found = set_.definition(id);
    found.terms.is_live = holders_.has(id);
    return found;
  }
  Verdict explain(SubscriptionId id, const Question& question) const override {
    return set_.explain(id, question.message);
  }

  bool is_safe() const { return is_safe_; }
  std::size_t safe_regions() const { return safe_.size(); }
  /// What a subscription was promised; nothing: it was not.
  std::optional<double> safe_distance(SubscriptionId id) const;

  const MatchSet& set() const { return set_; }
  std::size_t slots() const override { return set_.slots(); }
  bool has(SubscriptionId id) const override { return set_.has(id) && !safe_.is_impact(id); }
  SetSizes sizes() const override;
  std::size_t other_bytes() const override {
    return safe_.memory_bytes() + holders_.memory_bytes();
  }
  void count_uses(std::vector<std::uint32_t>& uses) const override { set_.count_uses(uses); }
  void count_terms(TermRegistry& terms) const override { set_.count_terms(terms); }
  void check_invariants() const override;
  void trim() { scratch_.reading.trim(); }

  void save(ArchiveWriter& out) const override;
  void load(ArchiveReader& in, const Claims& known) override;

 private:
  const LiveMessages& messages() const { return life_.messages(); }
  std::string_view name(SubscriptionId id) const { return life_.name(ModeId::kMatch, id); }

  void succeed(const Newcomer& newcomer, Step& step);

  // match_promises.cpp
  void promise(const Event& event, SubscriptionId id, Step& step);
  double least_margin(SubscriptionId id, const Area& area) const;
  void shorten(SubscriptionId impact, const Place& place, Step& step);
  static void tell(std::string_view subscription, double distance, Step& step);
  void end_promise(SubscriptionId id);
  void check_promises() const;
  void check_loaded() const;

  const Life& life_;
  MatchSet set_;
  LiveFlags holders_;
  bool is_safe_;
  SafeRegions safe_;
  mutable ScratchPool<BatchScratch> scratches_;  ///< of questions
  // Kept between events, so that none allocates.
  BatchScratch scratch_;
  std::vector<MessageId> found_;
  MoveChanges moved_;
  MessageVersions versions_;  ///< of the message that is being replaced
};

}  // namespace nearcast
