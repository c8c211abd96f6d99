#include "nearcast/engine/rank_engine.h"

#include "nearcast/base/errors.h"
#include "nearcast/base/number_text.h"
#include "nearcast/engine/column_checks.h"
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

RankEngine::RankEngine(std::string index, GivenParameters parameters,
                       std::shared_ptr<Vocabulary> vocabulary)
    : index_name_(index_kind(index).name),
      parameters_(std::move(parameters)),
      vocabulary_(vocabulary != nullptr ? vocabulary : std::make_shared<Vocabulary>()),
      owns_words_(vocabulary == nullptr) {
  index_ = make_rank_index(index, store_, parameters_);
}

void RankEngine::subscribe(const ExternalId& id, std::span<const std::string_view> words,
                           const Rect& area, const RankTerms& terms) {
  check_terms("", terms.alpha, terms.threshold);
  if (words.empty() || words.size() > SubscriptionStore::kMaxTokens) {
    throw Error(ErrorKind::kInvalidSubscription, "keywords",
                std::to_string(words.size()) + " keywords",
                "1 to " + std::to_string(SubscriptionStore::kMaxTokens));
  }
  ids_.check_new(id);
  std::vector<Token> tokens;
  for (const std::string_view word : words) tokens.push_back(vocabulary_->intern(word));
  vocabulary_->keep_distinct(tokens);
  subscribe(id, TokenSpan(tokens), area, terms);
}

void RankEngine::subscribe(const ExternalId& id, TokenSpan tokens, const Rect& area,
                           const RankTerms& terms) {
  const SubscriptionId slot = store_.add(tokens, area, terms);
  ids_.bind(id, raw(slot));
  index_->insert(slot);
}

void RankEngine::check_rows(const RankSubscriptionColumns& rows) const {
  for (std::size_t row = 0; row < rows.rows; ++row) {
    check_place(ErrorKind::kInvalidSubscription, rows.areas, row);
    check_keywords(rows.keywords, row, "");
    check_terms("row " + std::to_string(row) + ": ", rows.alpha[row], rows.threshold[row]);
  }
}

void RankEngine::subscribe(const RankSubscriptionColumns& rows) {
  check_columns(rows);
  check_rows(rows);
  KeywordRows keywords(rows.keywords, {}, rows.rows, *vocabulary_);
  const ClauseRows clauses = keywords.with(rows.areas);
  const auto add = [&](std::size_t row) {
    const Rect area{rows.areas.west[row], rows.areas.south[row], rows.areas.east[row],
                    rows.areas.north[row]};
    return store_.add(clauses.tokens_of(row), area, {rows.alpha[row], rows.threshold[row]});
  };
  const std::vector<SubscriptionId> slots =
      add_rows(rows.ids, rows.rows, ids_, arrange(*index_, clauses, store_.size()), add,
               [&](SubscriptionId slot) { store_.remove(slot); });
  keywords.keep();
  index_->build(slots);
}

void RankEngine::remove(SubscriptionId id) {
  index_->erase(id);
  ids_.release(raw(id));
  if (owns_words_) vocabulary_->release_all(store_.tokens(id));
  store_.remove(id);
}

void RankEngine::unsubscribe(const ExternalId& id) { remove(SubscriptionId{ids_.slot_of(id)}); }

void RankEngine::unsubscribe(const IdColumn& ids) {
  check_ids(ErrorKind::kUnknownId, ids);
  for (const SubscriptionId slot : slots_of(ids_, ids)) remove(slot);
}

void RankEngine::replace_area(const ExternalId& id, const Rect& area) {
  const SubscriptionId slot{ids_.slot_of(id)};
  index_->erase(slot);
  store_.replace_area(slot, area);
  index_->insert(slot);
}

bool RankEngine::has(const ExternalId& id) const { return ids_.find(id) != ExternalIds::kNone; }

void RankEngine::start_epoch(const EpochColumns& epoch) {
  epoch.check();
  const std::vector<Token> before = store_.weights().listed();
  // Words are made known: the subscriptions that will have them may come later.
  const std::vector<Token> tokens = intern_words(epoch.words, *vocabulary_);
  start_epoch(epoch.documents, epoch.counts(tokens));
  for (const Token token : store_.weights().listed()) vocabulary_->hold(token);
  vocabulary_->release_all(tokens);
  vocabulary_->release_all(before);
}

void RankEngine::start_epoch(std::uint64_t documents, std::span<const TokenWeights::Count> counts) {
  store_.start_epoch(documents, counts);
  index_->reweigh();
}

void RankEngine::end_epoch() {
  const std::vector<Token> before = store_.weights().listed();
  store_.end_epoch();
  index_->reweigh();
  if (owns_words_) vocabulary_->release_all(before);
}

void RankEngine::run(const Message& message, RankScratch& scratch, RankSink& sink) const {
  sink.clear();
  scratch.visited.start(store_.slots());
  index_->rank(message, scratch, sink);
}

MatchColumns RankEngine::rank(const MessageColumns& given, bool is_timed) const {
  check_columns(given);
  ScratchPool<Scratch>::Loan loan(scratches_);
  Scratch& scratch = *loan;
  const MessageColumns messages = up_to_date(given, *vocabulary_, scratch.reading.dictionary);
  scratch.sink.work = {};
  MatchColumns out;
  out.has_words = ids_.has_words();
  for_each_group<1>(
      messages, *vocabulary_, is_timed, scratch.reading, out,
      [&](const Message& message) { index_->prefetch(message); },
      [&](std::size_t row, std::span<const Message> group) {
        run(group.front(), scratch.rank, scratch.sink);
        make_room(out, scratch.sink.ids().size(), row + 1, messages.rows);
        const auto scores = scratch.sink.scores();
        append_ids(ids_, scratch.sink.ids(), out);
        out.score.insert(out.score.end(), scores.begin(), scores.end());
        out.message.insert(out.message.end(), scores.size(), static_cast<std::int64_t>(row));
      });
  out.work = scratch.sink.work;
  return out;
}

MatchColumns RankEngine::rank_one(std::span<const std::string_view> words,
                                  const Place& place) const {
  ScratchPool<Scratch>::Loan loan(scratches_);
  Scratch& scratch = *loan;
  scratch.sink.work = {};
  std::vector<Token>& tokens = scratch.reading.tokens[0];
  find_tokens(*vocabulary_, words, tokens);
  run({tokens, place}, scratch.rank, scratch.sink);
  MatchColumns out;
  out.has_words = ids_.has_words();
  append_ids(ids_, scratch.sink.ids(), out);
  out.score.assign(scratch.sink.scores().begin(), scratch.sink.scores().end());
  out.work = scratch.sink.work;
  return out;
}

void RankEngine::rank_one(const Message& message, RankSink& sink) const {
  ScratchPool<Scratch>::Loan loan(scratches_);
  run(message, (*loan).rank, sink);
}

double RankEngine::score(SubscriptionId slot, const Message& message) const {
  return store_.score(slot, message);
}

bool RankEngine::accepts(SubscriptionId slot, double score) const {
  return store_.accepts(slot, score);
}

double RankEngine::score_pair(const ExternalId& id, std::span<const std::string_view> words,
                              const Place& place) const {
  std::vector<Token> tokens;
  find_tokens(*vocabulary_, words, tokens);
  return store_.score(SubscriptionId{ids_.slot_of(id)}, {tokens, place});
}

SubscriptionId RankEngine::slot_of(const ExternalId& id) const {
  return SubscriptionId{ids_.slot_of(id)};
}

std::pair<std::vector<std::uint32_t>, std::uint64_t> RankEngine::tokens_of(
    const WordColumn& words) const {
  return {find_words(words, *vocabulary_), vocabulary_->version()};
}

std::uint64_t RankEngine::vocabulary_version() const { return vocabulary_->version(); }

EngineStats RankEngine::stats() const {
  return {store_.size(),       vocabulary_->size(),    store_.memory_bytes(),
          ids_.memory_bytes(), index_->memory_bytes(), vocabulary_->memory_bytes()};
}

void RankEngine::check_invariants() const {
  ensure(ids_.size() == store_.size(), "rank engine: ids and subscriptions differ in number");
  store_.for_each([&](SubscriptionId id) {
    ensure(ids_.find(ids_.id(raw(id))) == raw(id), "rank engine: an id leads to another");
    ensure(store_.weight(id) == store_.weights().sum(store_.tokens(id)),
           "rank engine: a subscription is not weighed by the epoch in force");
  });
  index_->check_invariants();
  if (!owns_words_) return;
  vocabulary_->check_invariants();
  check_uses();
}

void RankEngine::check_uses() const {
  std::vector<std::uint32_t> uses;
  count_uses(uses);
  for (std::uint32_t token = 0; token < uses.size(); ++token) {
    ensure(vocabulary_->uses(Token{token}) == uses[token],
           "rank engine: a word is used more or less often than was counted");
  }
}

void RankEngine::count_uses(std::vector<std::uint32_t>& uses) const {
  uses.resize(vocabulary_->slots());
  store_.for_each([&](SubscriptionId id) {
    for (const Token token : store_.tokens(id)) ++uses[raw(token)];
  });
  for (const Token token : store_.weights().listed()) ++uses[raw(token)];
}

void RankEngine::save(ArchiveWriter& out) const {
  if (owns_words_) vocabulary_->save(out);
  store_.save(out);
  ids_.save(out);
}

void RankEngine::load(ArchiveReader& in) {
  if (owns_words_) vocabulary_->load(in);
  store_.load(in);
  ids_.load(in);
  if (in.is_checking()) {
    store_.check_loaded(vocabulary_->check_loaded(), vocabulary_->slots());
    if (owns_words_) check_uses();
    ids_.check_loaded(store_.slots(), store_.size(), /*has_to_be_words=*/false,
                      [&](std::uint32_t slot) { return store_.is_live(SubscriptionId{slot}); });
  }
  index_->build_all();
}

}  // namespace nearcast
