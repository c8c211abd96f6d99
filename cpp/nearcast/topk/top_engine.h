/// All top subscriptions over the live messages, event by event [Skype §4].
///
/// Everything between begin() and finish() is one event: lists change once per event, by the net
/// difference between before and after. Messages are in their store before publish() and stay there
/// until after the finish() of the event that drops them.
///
///   arrival   which buffers does a newcomer enter?              topk/arrival/
///   expiry    what do buffers keep, when are they filled anew?  topk/expiry/
///   search    what are the best live messages?                  topk/search/
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/topk/arrival/arrival_index.h"
#include "nearcast/topk/expiry/expiry_policy.h"
#include "nearcast/topk/search/backlog_search.h"
#include "nearcast/topk/top_change.h"
#include "nearcast/topk/top_question.h"
#include "nearcast/topk/top_state.h"
#include "nearcast/topk/top_tuning.h"

namespace nearcast {

struct TopResult {
  MessageId message;
  double score;
};

struct TopStats {
  std::size_t subscriptions = 0, messages = 0;
  std::size_t record_bytes = 0, buffer_bytes = 0, holder_bytes = 0, index_bytes = 0;
  std::size_t search_bytes = 0;  ///< of what is kept per message; not counted per subscription
  double mean_buffer = 0;        ///< messages held per subscription
  WorkCounters arrival;
  ExpiryWork expiry;
};

class TopEngine {
 public:
  /// `expiry` may be empty: the kind that the arrival is combined with. Messages and weights
  /// outlive the engine.
  TopEngine(const MessageStore& messages, const TokenWeights& weights, const Rect& space,
            const std::string& arrival, const std::string& expiry = {}, TopTuning tuning = {});

  /// From now on a message is none for a subscription whose condition refuses it.
  void heed(const Conditions& conditions, const Vocabulary& words, const TermRegistry& terms) {
    state_.conditions = &conditions;
    state_.words = &words;
    state_.terms = &terms;
  }
  /// The messages that are in the store already are live; the search takes them in by catch_up().
  void hold();
  void catch_up(std::size_t count) { search_->catch_up(count); }  ///< with at most so many

  void begin();
  /// Tokens ascend and are distinct, at least one; k ≥ 1. The id is not in use, and dense. The
  /// first list of a silent one is not reported.
  void subscribe(SubscriptionId id, TokenSpan tokens, const TopTerms& terms,
                 bool is_silent = false);
  void unsubscribe(SubscriptionId id);
  void move(SubscriptionId id, Point at);
  /// A successor is the new version of the message that was dropped last, with Reason::kChanged: a
  /// list that held the one and holds the other is updated.
  void publish(MessageId id, bool is_successor = false);
  void drop(MessageId id, Reason reason);
  /// Another epoch is in force from now on; the weights before it are still there during the call.
  /// An event of its own.
  void set_weights(const TokenWeights& weights);
  void finish(TopChanges& out);  ///< appends

  bool has(SubscriptionId id) const { return state_.subscriptions.has(id); }
  std::size_t size() const { return state_.subscriptions.size(); }
  TokenSpan tokens(SubscriptionId id) const { return state_.subscriptions.tokens(id); }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    state_.subscriptions.for_each(visit);
  }
  std::vector<TopResult> results(SubscriptionId id) const;  ///< best first
  /// As they were before this event; messages that it has dropped are there.
  std::vector<TopResult> results_before(SubscriptionId id) const;
  TopVerdict judge(SubscriptionId id, const TopQuestion& message) const;  ///< judging.cpp
  TopTerms terms(SubscriptionId id) const {
    const TopSubscriptions::Record& record = state_.subscriptions[id];
    return {record.at, record.k, record.alpha};
  }
  TopStats stats() const;
  void check_invariants() const;

  /// Copies all subscriptions and what they hold from another engine, over the same messages and
  /// weights and with the same kind of expiry, into this one, which has none.
  void adopt(const TopEngine& other);
  void save(ArchiveWriter& out) const;
  /// Loads into a new engine, after the messages are loaded.
  void load(ArchiveReader& in, const Claims& known_tokens);

 private:
  enum class Mark : std::uint8_t { kNone, kPublished, kExpired, kRetracted, kReplaced, kSuccessor };

  void mark(MessageId id, Mark mark);
  Mark mark_of(MessageId message) const;
  void compare(const Journal::Page& page, TopChanges& out);
  std::span<const MessageId> best(SubscriptionId id) const;
  TopResult scored(SubscriptionId id, MessageId message) const {
    return {message, state_.score(id, message)};
  }
  void report(const Journal::Page& page, MessageId message, ChangeKind kind, TopChanges& out);
  void score_changes(TopChanges& out);
  Reason reason_for(const Journal::Page& page, MessageId message, ChangeKind kind) const;
  double score_in(const Journal::Page& page, MessageId message, ChangeKind kind) const;
  void replace_results(SubscriptionId id, const TokenWeights& old_weights);

  TopState state_;
  std::unique_ptr<ArrivalIndex> arrival_;
  std::unique_ptr<BacklogSearch> search_;
  std::unique_ptr<ExpiryPolicy> expiry_;
  WorkCounters arrival_work_;
  std::vector<ArrivalHit> hits_;
  FactReader facts_;
  std::vector<std::uint8_t> marks_;  ///< by message: what this event did to it
  std::vector<MessageId> marked_;
  std::optional<MessageId> replaced_, successor_;  ///< versions of one message, of this event
  TopChanges reweighed_;
  std::vector<const Journal::Page*> unscored_;  ///< of the last changes, whose scores are not there
};

}  // namespace nearcast
