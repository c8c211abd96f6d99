#include "nearcast/rank/auto/score_records.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

void ScoreRecords::write(SubscriptionId id) {
  if (records_.size() <= raw(id)) records_.resize(raw(id) + 1);
  Record& record = records_[raw(id)];
  record = {};
  const TokenSpan tokens = store_.tokens(id);
  const RankTerms& terms = store_.terms(id);
  const std::pair key(terms.alpha, terms.threshold);
  auto known = numbers_.find(key);
  if (known == numbers_.end() && terms_.size() < kMostTerms) {
    known = numbers_.emplace(key, static_cast<std::uint16_t>(terms_.size())).first;
    terms_.push_back(terms);
  }
  const bool fits = tokens.size() <= kMostTokens && known != numbers_.end() &&
                    store_.subscriptions().bounds_are_exact(id);
  if (!fits) return;
  std::copy(tokens.begin(), tokens.end(), record.tokens);
  record.terms = known->second;
  record.count = static_cast<std::uint16_t>(tokens.size());
  record.weight = store_.weight(id);
}

void ScoreRecords::clear() {
  records_.clear();
  terms_.clear();
  numbers_.clear();
}

void ScoreRecords::check(SubscriptionId id) const {
  const Record& record = records_[raw(id)];
  if (record.count == 0) return;
  const TokenSpan tokens = store_.tokens(id);
  ensure(std::equal(tokens.begin(), tokens.end(), record.tokens, record.tokens + record.count) &&
             record.weight == store_.weight(id) && terms(record) == store_.terms(id),
         "auto: a record is not its subscription's");
}

void ScoreRecords::save(ArchiveWriter& out) const {
  records_.save(out);
  terms_.save(out);
}

void ScoreRecords::load(ArchiveReader& in) {
  records_.load(in);
  terms_.load(in);
  numbers_.clear();
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    numbers_.emplace(std::pair(terms_[i].alpha, terms_[i].threshold),
                     static_cast<std::uint16_t>(i));
  }
}

}  // namespace nearcast
