/// Scores candidates some time after they were proposed: what a score needs is anywhere in memory,
/// so it is prefetched in two steps while earlier candidates are scored.
#pragma once

#include <cstddef>

#include "nearcast/rank/rank_index.h"

namespace nearcast {

class RankVerifier {
 public:
  RankVerifier(const RankStore& store, const Message& message, RankScratch& scratch, RankSink& sink)
      : store_(store), message_(message), scratch_(scratch), sink_(sink) {
    scratch_.queue.clear();
  }

  /// A subscription that is proposed several times is scored once.
  void propose(SubscriptionId id) {
    if (scratch_.visited.first_visit(raw(id))) propose_once(id);
  }
  /// For a subscription that is proposed only once.
  void propose_once(SubscriptionId id) {
    store_.prefetch(id, 0);
    scratch_.queue.push_back(id);
    if (scratch_.queue.size() >= next_ + 2 * kAhead) decide_next();
  }
  void finish() {
    while (next_ < scratch_.queue.size()) decide_next();
  }

 private:
  static constexpr std::size_t kAhead = 8;

  void decide_next() {
    if (next_ + kAhead < scratch_.queue.size()) store_.prefetch(scratch_.queue[next_ + kAhead], 1);
    const SubscriptionId id = scratch_.queue[next_++];
    const double score = store_.score(id, message_);
    if (store_.accepts(id, score)) sink_.accept(id, score);
  }

  const RankStore& store_;
  const Message& message_;
  RankScratch& scratch_;
  RankSink& sink_;
  std::size_t next_ = 0;
};

}  // namespace nearcast
