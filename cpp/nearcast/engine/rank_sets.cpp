#include "nearcast/engine/rank_sets.h"

#include <algorithm>

namespace nearcast {

void RankSets::hold(std::span<const MessageId> present) {
  postings_ = std::make_unique<MessagePostings>(messages_);
  for (const MessageId id : present) keep(id);
}

/// Whoever reaches the threshold shares a token, or touches the area and needs no token. With a
/// token, space may still be needed. A little below the threshold is enough to be looked at.
void RankSets::propose(SubscriptionId id, std::vector<MessageId>& out) const {
  constexpr double kSlack = 1e-6;
  const RankStore& store = engine_.store();
  const double enough = store.terms(id).threshold - kSlack;
  const bool needs_space = 1 - store.terms(id).alpha < enough;
  const bool needs_text = store.terms(id).alpha < enough;
  const Rect area = store.bounds(id);
  const Rect anywhere = kWorld;
  out.clear();
  for (const Token token : store.tokens(id)) {
    postings_->propose_by_token(token, {needs_space ? &area : &anywhere, 1}, out);
  }
  if (!needs_text) postings_->propose_by_place({&area, 1}, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

void RankSets::find(SubscriptionId id, std::vector<ScoredMessage>& out,
                    std::vector<MessageId>& proposed) const {
  propose(id, proposed);
  out.clear();
  for (const MessageId message : proposed) {
    const double score = engine_.store().score(id, messages_.message(message));
    if (engine_.store().accepts(id, score)) out.push_back({message, score});
  }
}

}  // namespace nearcast
