/// Top subscriptions in a hub: what each wants, and the lists that hold its k best messages.
///
/// The lists exist, and messages are kept for them, from the first top subscription on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nearcast/life/life.h"
#include "nearcast/modes/mode.h"
#include "nearcast/text/vocabulary.h"
#include "nearcast/topk/top_engine.h"

namespace nearcast {

/// Which kinds serve top subscriptions, and in which space distances are measured.
struct TopSettings {
  Rect space = kWorld;
  std::string arrival = "auto";
  std::string expiry;           ///< empty: what suits the arrival
  TopTuning::Given parameters;  ///< of both, and of the search
};

class TopMode final : public Mode {
 public:
  TopMode(Vocabulary& words, TermRegistry& terms, const Life& life, TopSettings settings);

  const TopSettings& settings() const { return settings_; }

  SubscriptionId subscribe(const Event& event, bool is_successor, Step& step) override;
  void end(SubscriptionId id) override;
  void move(SubscriptionId id, const Event& event, Step&) override { lists_->move(id, *event.at); }
  void publish(const Newcomer& newcomer, Step&) override {
    if (lists_ && newcomer.kept) lists_->publish(*newcomer.kept, newcomer.is_successor);
  }
  void leave(MessageId message, Reason reason, Step&) override {
    if (lists_) lists_->drop(message, reason);
  }
  void begin_event() override {
    if (lists_) lists_->begin();
  }
  void finish_event(Step& step) override;
  void catch_up(std::size_t messages) override {
    if (lists_) lists_->catch_up(messages);
  }
  void weigh(const Epoch* epoch, Step& step) override;

  bool holds_set(SubscriptionId) const override { return true; }
  std::vector<HeldMessage> results(SubscriptionId id) const override;
  std::vector<HeldMessage> last_told(SubscriptionId id) const override;
  /// Looks at each subscription: what finds lists quickly finds them for kept messages only.
  void find_matches(const Question& question, std::vector<SubscriptionId>& out) const override;
  Definition definition(SubscriptionId id) const override;
  Verdict explain(SubscriptionId id, const Question& question) const override;

  std::optional<TopStats> stats() const;
  std::size_t memory_bytes() const;  ///< of the lists and all they need
  std::size_t slots() const override { return slots_; }
  bool has(SubscriptionId id) const override { return lists_ && lists_->has(id); }
  SetSizes sizes() const override { return {lists_ ? lists_->size() : 0, 0, 0, 0}; }
  void count_uses(std::vector<std::uint32_t>& uses) const override;
  void count_terms(TermRegistry& terms) const override { conditions_.count_terms(terms); }
  void check_invariants() const override;

  void save(ArchiveWriter& out) const override;
  void load(ArchiveReader& in, const Claims& known) override;

 private:
  void hold();
  std::unique_ptr<TopEngine> make_lists() const;
  void check_loaded() const;

  Vocabulary& words_;
  TermRegistry& terms_;
  const Life& life_;
  TopSettings settings_;
  std::unique_ptr<TokenWeights> weights_;
  Conditions conditions_;  ///< `where` of the subscriptions
  Array<std::uint32_t> free_slots_;
  std::uint32_t slots_ = 0;
  std::unique_ptr<TopEngine> lists_;
  // Kept between events, so that none allocates.
  TopChanges changes_;
  std::vector<Token> tokens_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace nearcast
