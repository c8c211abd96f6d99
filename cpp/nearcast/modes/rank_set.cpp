#include "nearcast/modes/rank_set.h"

#include "nearcast/base/errors.h"
#include "nearcast/base/number_text.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/index/registry.h"
#include "nearcast/rank/registry.h"

namespace nearcast {
namespace {

/// `who` is empty, or names the row.
void check_terms(const std::string& who, double alpha, double threshold) {
  if (!(alpha >= 0 && alpha <= 1)) {  // also NaN
    throw Error(ErrorKind::kInvalidSubscription, who + "alpha", number_text(alpha),
                "a number from 0 to 1");
  }
  if (!(threshold > 0 && threshold <= 1)) {
    throw Error(ErrorKind::kInvalidSubscription, who + "threshold", number_text(threshold),
                "a number above 0, to 1");
  }
}

}  // namespace

RankSet::RankSet(const std::string& index, GivenParameters parameters, Vocabulary& words,
                 TermRegistry& terms)
    : index_name_(index_kind(index).name),
      parameters_(std::move(parameters)),
      words_(words),
      terms_(terms),
      conditions_(words, terms) {
  index_ = make_rank_index(index, store_, parameters_);
}

SubscriptionId RankSet::add(std::span<const std::string_view> words, const Rect& area,
                            const RankTerms& terms, const Expression* where) {
  check_terms("", terms.alpha, terms.threshold);
  if (words.empty() || words.size() > SubscriptionStore::kMaxTokens) {
    throw Error(ErrorKind::kInvalidSubscription, "keywords",
                std::to_string(words.size()) + " keywords",
                "1 to " + std::to_string(SubscriptionStore::kMaxTokens));
  }
  Wish wish;
  wish.where = where;
  wish.is_filed = false;
  ConditionPlan plan(wish, words_);
  conditions_.check_room(plan.program());
  std::vector<Token> tokens;
  for (const std::string_view word : words) tokens.push_back(words_.intern(word));
  words_.keep_distinct(tokens);
  SubscriptionId slot;
  try {
    slot = store_.add(tokens, area, terms);
  } catch (...) {
    words_.release_all(tokens);
    throw;
  }
  conditions_.add(slot, plan.program(), nullptr);
  plan.keep(terms_);
  index_->insert(slot);
  return slot;
}

void RankSet::check_rows(const RankSubscriptionColumns& rows) const {
  for (std::size_t row = 0; row < rows.rows; ++row) {
    check_place(ErrorKind::kInvalidSubscription, rows.areas, row);
    check_keywords(rows.keywords, row, "");
    check_terms("row " + std::to_string(row) + ": ", rows.alpha[row], rows.threshold[row]);
  }
}

void RankSet::add(const RankSubscriptionColumns& rows, ExternalIds& ids) {
  check_columns(rows);
  check_rows(rows);
  KeywordRows keywords(rows.keywords, {}, rows.rows, words_);
  const ClauseRows clauses = keywords.with(rows.areas);
  const auto add = [&](std::size_t row) {
    const Rect area{rows.areas.west[row], rows.areas.south[row], rows.areas.east[row],
                    rows.areas.north[row]};
    return store_.add(clauses.tokens_of(row), area, {rows.alpha[row], rows.threshold[row]});
  };
  const std::vector<SubscriptionId> slots =
      add_rows(rows.ids, rows.rows, ids, arrange(*index_, clauses, store_.size()), add,
               [&](SubscriptionId slot) { store_.remove(slot); });
  keywords.keep();
  index_->build(slots);
}

void RankSet::remove(SubscriptionId id) {
  index_->erase(id);
  conditions_.remove(id);
  words_.release_all(store_.tokens(id));
  store_.remove(id);
}

void RankSet::replace_area(SubscriptionId id, const Rect& area) {
  index_->erase(id);
  store_.replace_area(id, area);
  index_->insert(id);
}

void RankSet::weigh(const Epoch* epoch) {
  const std::vector<Token> before = store_.weights().listed();
  if (epoch == nullptr) {
    store_.end_epoch();
  } else {
    store_.start_epoch(epoch->documents, epoch->counts);
  }
  // The words of the epoch stay known while it is in force.
  for (const Token token : store_.weights().listed()) words_.hold(token);
  words_.release_all(before);
  index_->reweigh();
}

void RankSet::run(const Message& message, Scratch& scratch, RankSink& sink) const {
  sink.clear();
  scratch.rank.visited.start(store_.slots());
  index_->rank(message, scratch.rank, sink);
  if (conditions_.empty() || sink.ids().empty()) return;
  const Facts& facts = scratch.facts.read(message, words_, terms_);
  sink.retain([&](SubscriptionId id) { return conditions_.accepts(id, facts); });
}

void RankSet::rank(const Message& message, RankSink& sink) const {
  ScratchPool<Scratch>::Loan loan(scratches_);
  run(message, *loan, sink);
}

MatchColumns RankSet::answer(const MessageColumns& given, const ExternalIds& ids,
                             bool is_timed) const {
  check_columns(given);
  ScratchPool<Scratch>::Loan loan(scratches_);
  Scratch& scratch = *loan;
  const MessageColumns messages = up_to_date(given, words_, scratch.reading.dictionary);
  scratch.sink.work = {};
  MatchColumns out;
  out.has_words = ids.has_words();
  for_each_group<1>(
      messages, words_, is_timed, scratch.reading, out,
      [&](std::size_t, const Message& message) { index_->prefetch(message); },
      [&](std::size_t row, std::span<const Message> group) {
        Message message = group.front();
        read_attributes(messages.attributes, row, scratch.reading.attributes);
        const Saying saying{{}, scratch.reading.attributes};
        message.said.fresh = &saying;
        run(message, scratch, scratch.sink);
        make_room(out, scratch.sink.ids().size(), row + 1, messages.rows);
        const auto scores = scratch.sink.scores();
        append_ids(ids, scratch.sink.ids(), out);
        out.score.insert(out.score.end(), scores.begin(), scores.end());
        out.message.insert(out.message.end(), scores.size(), static_cast<std::int64_t>(row));
      });
  out.work = scratch.sink.work;
  return out;
}

MatchColumns RankSet::answer_one(const Saying& saying, const Place& place,
                                 const ExternalIds& ids) const {
  ScratchPool<Scratch>::Loan loan(scratches_);
  Scratch& scratch = *loan;
  scratch.sink.work = {};
  std::vector<Token>& tokens = scratch.reading.tokens[0];
  find_tokens(words_, saying.words, tokens);
  run({tokens, place, {&saying, nullptr}}, scratch, scratch.sink);
  MatchColumns out;
  out.has_words = ids.has_words();
  append_ids(ids, scratch.sink.ids(), out);
  out.score.assign(scratch.sink.scores().begin(), scratch.sink.scores().end());
  out.work = scratch.sink.work;
  return out;
}

Definition RankSet::definition(SubscriptionId id) const {
  Definition found{{}, store_.area(id)};
  for (const Token token : store_.tokens(id)) found.words.emplace_back(words_.word(token));
  found.terms.mode = ModeId::kRank;
  found.terms.alpha = store_.terms(id).alpha;
  found.terms.threshold = store_.terms(id).threshold;
  return found;
}

SetSizes RankSet::sizes() const {
  return {store_.size(), store_.memory_bytes() + conditions_.memory_bytes(), index_->memory_bytes(),
          0};
}

void RankSet::check_invariants() const {
  store_.for_each([&](SubscriptionId id) {
    ensure(store_.weight(id) == store_.weights().sum(store_.tokens(id)),
           "rank: a subscription is not weighed by the epoch in force");
  });
  index_->check_invariants();
}

void RankSet::count_uses(std::vector<std::uint32_t>& uses) const {
  store_.for_each([&](SubscriptionId id) {
    for (const Token token : store_.tokens(id)) ++uses[raw(token)];
  });
  for (const Token token : store_.weights().listed()) ++uses[raw(token)];
  conditions_.count_uses(uses);
}

void RankSet::load(ArchiveReader& in, const Claims& known) {
  store_.load(in);
  conditions_.load(in);
  if (in.is_checking()) {
    store_.check_loaded(known, words_.slots());
    conditions_.check_loaded(known, [&](SubscriptionId id) { return has(id); });
  }
  index_->build_all();
}

}  // namespace nearcast
