#include "nearcast/modes/match_set.h"

#include "nearcast/base/errors.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/index/registry.h"
#include "nearcast/model/semantics.h"
#include "nearcast/modes/learned.h"

namespace nearcast {
namespace {

/// Clauses with tokens instead of words; keeps the memory their spans point to. Each token of each
/// clause is one use of its word, which ends with the clauses unless something keeps them.
class InternedClauses {
 public:
  InternedClauses(std::span<const WordClause> clauses, Vocabulary& vocabulary)
      : InternedClauses(vocabulary) {  // from here on the destructor runs, also after an error
    tokens_.resize(2 * clauses.size());
    for (std::size_t i = 0; i < clauses.size(); ++i) {
      clauses_.push_back({intern(clauses[i].positive, tokens_[2 * i]),
                          intern(clauses[i].negative, tokens_[2 * i + 1])});
    }
  }
  ~InternedClauses() {
    for (const std::vector<Token>& tokens : tokens_) vocabulary_.release_all(tokens);
  }
  InternedClauses(const InternedClauses&) = delete;
  InternedClauses& operator=(const InternedClauses&) = delete;

  std::span<const Clause> view() const { return clauses_; }
  void keep() { tokens_.clear(); }  ///< the uses are now the store's; the view is gone

 private:
  explicit InternedClauses(Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  TokenSpan intern(std::span<const std::string_view> words, std::vector<Token>& tokens) {
    for (const std::string_view word : words) tokens.push_back(vocabulary_.intern(word));
    vocabulary_.keep_distinct(tokens);
    return tokens;
  }

  Vocabulary& vocabulary_;
  std::vector<std::vector<Token>> tokens_;
  std::vector<Clause> clauses_;
};

}  // namespace

MatchSet::MatchSet(const std::string& index, GivenParameters parameters, Vocabulary& words)
    : index_name_(index_kind(index).name), parameters_(std::move(parameters)), words_(words) {
  index_ = make_index(index, store_, parameters_);
}

SubscriptionId MatchSet::add(std::span<const WordClause> clauses, const Area& area) {
  InternedClauses interned(clauses, words_);
  const SubscriptionId slot = store_.add({interned.view(), &area});
  interned.keep();
  index_->insert(slot);
  return slot;
}

void MatchSet::remove(SubscriptionId id) {
  index_->erase(id);
  store_.for_each_entry(id, [&](EntryId entry) {
    const Clause clause = store_.clause(entry);
    words_.release_all(clause.positive);
    words_.release_all(clause.negative);
  });
  store_.remove(id);
}

void MatchSet::replace_area(SubscriptionId id, const Area& area) {
  index_->erase(id);
  store_.replace_area(id, area);
  index_->insert(id);
}

void MatchSet::match(const Message& message, BatchScratch& scratch) const {
  scratch.sink.clear();
  scratch.match.visited.start(store_.slots());
  index_->match(message, scratch.match, scratch.sink);
}

std::vector<WordClause> MatchSet::clauses(SubscriptionId id) const {
  std::vector<WordClause> clauses;
  store_.for_each_entry(id, [&](EntryId entry) {
    const Clause clause = store_.clause(entry);
    WordClause words;
    for (const Token token : clause.positive) words.positive.push_back(words_.word(token));
    for (const Token token : clause.negative) words.negative.push_back(words_.word(token));
    clauses.push_back(std::move(words));
  });
  return clauses;
}

Definition MatchSet::definition(SubscriptionId id) const {
  Definition found{{}, store_.area(id)};
  for (const WordClause& clause : clauses(id)) {
    found.clauses.push_back({{clause.positive.begin(), clause.positive.end()},
                             {clause.negative.begin(), clause.negative.end()}});
  }
  return found;
}

Verdict MatchSet::explain(SubscriptionId id, const Message& message) const {
  return {definition(id), matches(store_, id, message), area_touches(store_, id, message.place)};
}

SetSizes MatchSet::sizes() const {
  return {store_.size(), store_.memory_bytes() + learned_.memory_bytes(), index_->memory_bytes(),
          moving_ == nullptr ? 0 : moving_->message_bytes()};
}

void MatchSet::count_uses(std::vector<std::uint32_t>& uses) const {
  const auto count = [&](TokenSpan tokens) {
    for (const Token token : tokens) ++uses[raw(token)];
  };
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      const Clause clause = store_.clause(entry);
      count(clause.positive);
      count(clause.negative);
    });
  });
  count(learned_.view());
}

void MatchSet::save(ArchiveWriter& out) const {
  store_.save(out);
  learned_.save(out);
  save_sample(sample_, out);
  index_->save(out);
}

void MatchSet::load(ArchiveReader& in, const Claims& known) {
  store_.load(in);
  learned_.load(in);
  sample_ = load_sample(in);
  check_sample(sample_, words_.slots());
  if (in.is_checking()) {
    for (const Token token : learned_) expect(known.has(raw(token)), "a word that was learned");
    store_.check_loaded(known);
  }
  if (sample_.size() != 0) index_->learn(sample_);
  index_->load(in);
}

}  // namespace nearcast
