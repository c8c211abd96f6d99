#include "nearcast/modes/match_set.h"

#include "nearcast/base/errors.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/index/registry.h"
#include "nearcast/model/semantics.h"
#include "nearcast/modes/learned.h"

namespace nearcast {
namespace {

/// Words as tokens, ascending and distinct. Each is one use of its word, which ends with this
/// unless something keeps them.
class InternedWords {
 public:
  InternedWords(std::span<const std::string_view> words, Vocabulary& vocabulary)
      : InternedWords(vocabulary) {  // from here on the destructor runs, also after an error
    for (const std::string_view word : words) tokens_.push_back(vocabulary.intern(word));
    vocabulary.keep_distinct(tokens_);
  }
  ~InternedWords() { vocabulary_.release_all(tokens_); }
  InternedWords(const InternedWords&) = delete;
  InternedWords& operator=(const InternedWords&) = delete;

  TokenSpan view() const { return tokens_; }
  void keep() { tokens_.clear(); }  ///< the uses are now the store's; the view is gone

 private:
  explicit InternedWords(Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  Vocabulary& vocabulary_;
  std::vector<Token> tokens_;
};

}  // namespace

MatchSet::MatchSet(const std::string& index, GivenParameters parameters, Vocabulary& words,
                   TermRegistry& terms)
    : index_name_(index_kind(index).name),
      parameters_(std::move(parameters)),
      words_(words),
      terms_(terms),
      conditions_(words, terms) {
  index_ = make_index(index, store_, parameters_);
  files_ranges_ = index_->file_by(conditions_);
}

SubscriptionId MatchSet::add(const Wish& wish, const Area& area, const Area* excluded) {
  const SubscriptionId slot = store(wish, area, excluded);
  index_->insert(slot);
  return slot;
}

SubscriptionId MatchSet::store(const Wish& wish, const Area& area, const Area* excluded) {
  const bool is_plain = wish.keywords == nullptr && wish.where == nullptr && excluded == nullptr;
  const SubscriptionId slot =
      is_plain ? add_plain(wish.plain, area) : add_planned(wish, area, excluded);
  unfiled_ += is_unfiled(slot);
  return slot;
}

SubscriptionId MatchSet::add_plain(std::span<const std::string_view> words, const Area& area) {
  InternedWords interned(words, words_);
  const Clause clause{interned.view(), {}};
  const SubscriptionId slot = store_.add({{&clause, 1}, &area});
  interned.keep();
  return slot;
}

SubscriptionId MatchSet::add_planned(const Wish& wish, const Area& area, const Area* excluded) {
  Wish complete = wish;
  complete.unfiled = unfiled_;
  complete.files_ranges = files_ranges_;
  complete.has_area = !std::holds_alternative<Anywhere>(area);
  ConditionPlan plan(complete, words_);
  conditions_.check_room(plan.program());
  const SubscriptionId slot = store_.add({plan.clauses(), &area});
  conditions_.add(slot, plan.program(), excluded);
  plan.keep(terms_);
  return slot;
}

SubscriptionId MatchSet::add_like(SubscriptionId id, const Area& area) {
  std::vector<std::vector<Token>> tokens;
  store_.for_each_entry(id, [&](EntryId entry) {
    const Clause clause = store_.clause(entry);
    for (const TokenSpan each : {clause.positive, clause.negative}) {
      tokens.emplace_back(each.begin(), each.end());
      for (const Token token : each) {
        words_.hold(token);
        terms_.add(words_.word(token));
      }
    }
  });
  std::vector<Clause> clauses;
  for (std::size_t i = 0; i < tokens.size(); i += 2) clauses.push_back({tokens[i], tokens[i + 1]});
  const SubscriptionId slot = store_.add({clauses, &area});
  conditions_.copy(id, slot);
  unfiled_ += is_unfiled(slot);
  index_->insert(slot);
  return slot;
}

bool MatchSet::is_unfiled(SubscriptionId id) const {
  bool has_no_word = false;
  store_.for_each_entry(
      id, [&](EntryId entry) { has_no_word |= store_.clause(entry).positive.empty(); });
  return has_no_word;
}

void MatchSet::remove(SubscriptionId id) {
  index_->erase(id);
  forget(id);
}

void MatchSet::forget(SubscriptionId id) {
  unfiled_ -= is_unfiled(id);
  conditions_.remove(id);
  store_.for_each_entry(id, [&](EntryId entry) {
    const Clause clause = store_.clause(entry);
    for (const TokenSpan tokens : {clause.positive, clause.negative}) {
      if (!terms_.empty()) {
        for (const Token token : tokens) terms_.remove(words_.word(token));
      }
      words_.release_all(tokens);
    }
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
  if (is_plain()) {
    index_->match(message, scratch.match, scratch.sink);
    return;
  }
  const Facts& facts = scratch.facts.read(message, words_, terms_);
  index_->match({facts.tokens, message.place, {}, facts.numbers}, scratch.match, scratch.sink);
  retain(scratch, [&](std::size_t) -> const Facts& { return facts; });
}

Definition MatchSet::definition(SubscriptionId id) const {
  Definition found{{}, store_.area(id), {}, conditions_.excluded(id)};
  if (conditions_.has(id)) return found;
  store_.for_each_entry(id, [&](EntryId entry) {
    for (const Token token : store_.clause(entry).positive)
      found.words.emplace_back(words_.word(token));
  });
  return found;
}

Verdict MatchSet::explain(SubscriptionId id, const Message& message) const {
  FactReader reader;
  const Facts& facts = reader.read(message, words_, terms_);
  return {definition(id),
          matches(store_, id, {facts.tokens, message.place}) && conditions_.accepts(id, facts),
          area_touches(store_, id, message.place),
          {},
          conditions_.excludes(id, message.place)};
}

SetSizes MatchSet::sizes() const {
  return {store_.size(),
          store_.memory_bytes() + conditions_.memory_bytes() + learned_.memory_bytes(),
          index_->memory_bytes(), moving_ == nullptr ? 0 : moving_->message_bytes()};
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
  conditions_.count_uses(uses);
}

void MatchSet::count_terms(TermRegistry& terms) const {
  conditions_.count_terms(terms);
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      const Clause clause = store_.clause(entry);
      for (const TokenSpan tokens : {clause.positive, clause.negative}) {
        for (const Token token : tokens) terms.add(words_.word(token));
      }
    });
  });
}

void MatchSet::save(ArchiveWriter& out) const {
  store_.save(out);
  conditions_.save(out);
  out.value(static_cast<std::uint64_t>(unfiled_));
  learned_.save(out);
  save_sample(sample_, out);
  index_->save(out);
}

void MatchSet::load(ArchiveReader& in, const Claims& known) {
  store_.load(in);
  conditions_.load(in);
  unfiled_ = in.value<std::uint64_t>();
  learned_.load(in);
  sample_ = load_sample(in);
  check_sample(sample_, words_.slots());
  if (in.is_checking()) {
    for (const Token token : learned_) expect(known.has(raw(token)), "a word that was learned");
    store_.check_loaded(known);
    conditions_.check_loaded(known, [&](SubscriptionId id) { return has(id); });
  }
  if (sample_.size() != 0) index_->learn(sample_);
  index_->load(in);
}

}  // namespace nearcast
