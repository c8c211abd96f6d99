/// Would a message enter a list as it stands? A question: nothing is kept or changed.
#include "nearcast/topk/top_engine.h"

namespace nearcast {

TopVerdict TopEngine::judge(SubscriptionId id, const TopQuestion& message) const {
  const TopSubscriptions::Record& record = state_.subscriptions[id];
  const double product = common_product(state_.subscriptions.tokens(id), message.tokens,
                                        message.counts, *state_.weights);
  const double distance = distance_between(record.at, message.at);
  TopVerdict verdict;
  verdict.spatial = 1 - distance / state_.max_distance;
  if (product > 0) verdict.textual = product / (record.length * message.length);
  verdict.score = top_score(record.alpha, distance, state_.max_distance, product,
                            product > 0 ? record.length * message.length : 1);
  if (state_.buffers.size(id) < record.k) {
    verdict.is_better = product > 0;
    return verdict;
  }
  const Held last = state_.buffers.held(id, record.k - 1);
  verdict.last_score = state_.score(id, last.message);
  // Of two with the same score the newer one comes first.
  verdict.is_better = product > 0 && units_of(verdict.score) >= last.units;
  return verdict;
}

}  // namespace nearcast
