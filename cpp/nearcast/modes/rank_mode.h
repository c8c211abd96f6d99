/// Rank subscriptions in a hub: a set of them, and which of them are live.
#pragma once

#include <vector>

#include "nearcast/life/life.h"
#include "nearcast/modes/live_flags.h"
#include "nearcast/modes/mode.h"
#include "nearcast/modes/rank_results.h"
#include "nearcast/modes/rank_set.h"
#include "nearcast/modes/versions.h"

namespace nearcast {

class RankMode final : public Mode {
 public:
  RankMode(const std::string& index, const GivenParameters& parameters, Vocabulary& words,
           TermRegistry& terms, const Life& life)
      : life_(life),
        set_(index, parameters, words, terms),
        results_(set_, life.messages().store()) {}

  SubscriptionId subscribe(const Event& event, bool is_successor, Step& step) override;
  void end(SubscriptionId id) override;
  void move(SubscriptionId id, const Event& event, Step& step) override;
  void publish(const Newcomer& newcomer, Step& step) override;
  void leave(MessageId message, Reason reason, Step& step) override;
  void catch_up(std::size_t messages) override { results_.catch_up(messages); }
  void weigh(const Epoch* epoch, Step& step) override;

  bool holds_set(SubscriptionId id) const override { return holders_.has(id); }
  std::vector<HeldMessage> results(SubscriptionId id) const override;
  void find_matches(const Question& question, std::vector<SubscriptionId>& out) const override;
  Definition definition(SubscriptionId id) const override;
  Verdict explain(SubscriptionId id, const Question& question) const override;

  std::size_t slots() const override { return set_.slots(); }
  bool has(SubscriptionId id) const override { return set_.has(id); }
  SetSizes sizes() const override;
  std::size_t other_bytes() const override { return holders_.memory_bytes(); }
  void count_uses(std::vector<std::uint32_t>& uses) const override { set_.count_uses(uses); }
  void count_terms(TermRegistry& terms) const override { set_.count_terms(terms); }
  void check_invariants() const override;

  void save(ArchiveWriter& out) const override;
  void load(ArchiveReader& in, const Claims& known) override;

 private:
  const LiveMessages& messages() const { return life_.messages(); }
  void compare(std::string_view name, SubscriptionId id, std::span<const HeldMessage> before,
               Step& step);

  const Life& life_;
  RankSet set_;
  RankResults results_;
  LiveFlags holders_;
  // Kept between events, so that none allocates.
  RankSink ranked_;
  std::vector<MessageId> found_;
  std::vector<HeldMessage> before_, after_;
  MessageVersions versions_;  ///< of the message that is being replaced
};

}  // namespace nearcast
