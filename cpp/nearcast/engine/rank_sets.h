/// The sets of live rank subscriptions: which live messages reach a threshold, and with which
/// score? As with matching, nothing is stored: a set is found when it is asked for.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nearcast/engine/rank_engine.h"
#include "nearcast/index/message_postings/message_postings.h"
#include "nearcast/model/message_store.h"

namespace nearcast {

struct ScoredMessage {
  MessageId id;
  double score;
};

class RankSets {
 public:
  RankSets(const RankEngine& engine, const MessageStore& messages)
      : engine_(engine), messages_(messages) {}

  /// From now on messages are kept, beginning with those that are there.
  void hold(std::span<const MessageId> present);
  bool is_holding() const { return postings_ != nullptr; }
  void keep(MessageId id) { postings_->insert(id); }
  void drop(MessageId id) { postings_->erase(id); }

  /// The live messages that reach the subscription's threshold, by id. `proposed` is memory that
  /// the caller keeps between calls.
  void find(SubscriptionId id, std::vector<ScoredMessage>& out,
            std::vector<MessageId>& proposed) const;

  std::size_t memory_bytes() const { return is_holding() ? postings_->memory_bytes() : 0; }
  void check_invariants() const {
    if (is_holding()) postings_->check_invariants();
  }

 private:
  void propose(SubscriptionId id, std::vector<MessageId>& out) const;

  const RankEngine& engine_;
  const MessageStore& messages_;
  std::unique_ptr<MessagePostings> postings_;
};

}  // namespace nearcast
