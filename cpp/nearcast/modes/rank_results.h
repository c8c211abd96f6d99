/// The sets of live rank subscriptions: which live messages reach a threshold, and with which
/// score? As with matching, nothing is stored: a set is found when it is asked for.
#pragma once

#include <memory>
#include <vector>

#include "nearcast/index/ours/message_postings/message_postings.h"
#include "nearcast/model/message_backlog.h"
#include "nearcast/model/message_store.h"
#include "nearcast/modes/rank_set.h"

namespace nearcast {

class RankResults {
 public:
  RankResults(const RankSet& set, const MessageStore& messages) : set_(set), messages_(messages) {}

  /// From now on messages are kept. Those that are there are taken in by catch_up().
  void hold();
  bool is_holding() const { return postings_ != nullptr; }
  void catch_up(std::size_t count) {  ///< with at most so many messages
    backlog_.take(count, [&](MessageId id) { insert(id); });
  }
  void keep(MessageId id) {
    if (!backlog_.has(id)) insert(id);
  }
  void drop(MessageId id) { backlog_.has(id) ? backlog_.leave(id) : postings_->erase(id); }

  /// The live messages that reach the subscription's threshold, by id. `proposed` is memory that
  /// the caller keeps between calls.
  void find(SubscriptionId id, std::vector<HeldMessage>& out,
            std::vector<MessageId>& proposed) const;

  std::size_t memory_bytes() const { return is_holding() ? postings_->memory_bytes() : 0; }
  void check_invariants() const {
    if (is_holding()) postings_->check_invariants();
  }

 private:
  struct Needs {
    bool space, text;
  };
  void insert(MessageId id) {
    postings_->insert(id);
    if (postings_->wants_all()) backlog_.start(messages_);
  }
  void propose(SubscriptionId id, std::vector<MessageId>& out) const;
  void propose_waiting(SubscriptionId id, const Needs& needs, std::vector<MessageId>& out) const;

  const RankSet& set_;
  const MessageStore& messages_;
  std::unique_ptr<MessagePostings> postings_;
  MessageBacklog backlog_;  ///< messages that postings_ has not taken in yet
};

}  // namespace nearcast
