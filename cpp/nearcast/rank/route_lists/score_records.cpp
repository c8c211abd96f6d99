#include "nearcast/rank/route_lists/score_records.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

void ScoreRecords::write(SubscriptionId id) {
  if (records_.size() <= raw(id)) records_.resize(raw(id) + 1);
  Record& record = records_[raw(id)];
  record = {};
  const TokenSpan tokens = store_.tokens(id);
  if (tokens.size() > kMostTokens || !store_.subscriptions().bounds_are_exact(id)) return;
  const std::uint16_t terms = terms_.take(store_.terms(id));
  if (terms == SharedTerms::kNone) return;
  std::copy(tokens.begin(), tokens.end(), record.tokens);
  record.terms = terms;
  record.count = static_cast<std::uint16_t>(tokens.size());
  record.weight = store_.weight(id);
}

void ScoreRecords::erase(SubscriptionId id) {
  if (records_[raw(id)].count != 0) terms_.give_back(records_[raw(id)].terms);
  records_[raw(id)] = {};
}

void ScoreRecords::clear() {
  records_.clear();
  terms_.clear();
}

void ScoreRecords::check(SubscriptionId id) const {
  const Record& record = records_[raw(id)];
  if (record.count == 0) return;
  const TokenSpan tokens = store_.tokens(id);
  ensure(std::equal(tokens.begin(), tokens.end(), record.tokens, record.tokens + record.count) &&
             record.weight == store_.weight(id) && terms(record) == store_.terms(id),
         "route lists: a record is not its subscription's");
}

}  // namespace nearcast
