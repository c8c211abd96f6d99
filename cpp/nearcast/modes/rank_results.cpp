#include "nearcast/modes/rank_results.h"

#include <algorithm>

namespace nearcast {

void RankResults::hold() {
  postings_ = std::make_unique<MessagePostings>(messages_);
  backlog_.start(messages_);
}

/// A message that reaches the threshold shares a token, or touches the area of a subscription that
/// needs no token. Where a token is shared, the area may still be needed. Messages that miss the
/// threshold by a rounding error are proposed too.
void RankResults::propose(SubscriptionId id, std::vector<MessageId>& out) const {
  constexpr double kSlack = 1e-6;
  const RankStore& store = set_.store();
  const double enough = store.terms(id).threshold - kSlack;
  const Needs needs{1 - store.terms(id).alpha < enough, store.terms(id).alpha < enough};
  const Rect area = store.bounds(id);
  const Rect anywhere = kWorld;
  out.clear();
  for (const Token token : store.tokens(id)) {
    postings_->propose_by_token(token, {needs.space ? &area : &anywhere, 1}, out);
  }
  if (!needs.text) postings_->propose_by_place({&area, 1}, out);
  propose_waiting(id, needs, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

void RankResults::propose_waiting(SubscriptionId id, const Needs& needs,
                                  std::vector<MessageId>& out) const {
  if (backlog_.empty()) return;
  const RankStore& store = set_.store();
  const Rect area = store.bounds(id);
  std::vector<Outline> words;
  for (const Token token : store.tokens(id)) words.push_back(outline_of({&token, 1}));
  const auto may_share_a_word = [&](MessageId message) {
    const Outline outline = messages_.outlines()[raw(message)];
    return std::any_of(words.begin(), words.end(),
                       [&](Outline word) { return may_have(outline, word); });
  };
  const Outline any = kLiveOutline;
  backlog_.for_each(needs.text ? std::span<const Outline>(words) : std::span(&any, 1),
                    [&](MessageId message) {
                      const bool is_near = backlog_.may_touch(message, area);
                      if (is_near || (!needs.space && may_share_a_word(message)))
                        out.push_back(message);
                    });
}

void RankResults::find(SubscriptionId id, std::vector<HeldMessage>& out,
                       std::vector<MessageId>& proposed) const {
  propose(id, proposed);
  out.clear();
  FactReader reader;
  for (const MessageId message : proposed) {
    const Message said = messages_.message(message);
    const double score = set_.store().score(id, said);
    if (set_.store().accepts(id, score) && set_.accepts(id, said, reader))
      out.push_back({message, score});
  }
}

}  // namespace nearcast
