#include "nearcast/engine/engine.h"

#include "nearcast/base/errors.h"
#include "nearcast/engine/column_checks.h"
#include "nearcast/engine/learned.h"
#include "nearcast/index/registry.h"
#include "nearcast/model/semantics.h"

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

Engine::Engine(std::string index, GivenParameters parameters)
    : index_name_(index_kind(index).name), parameters_(std::move(parameters)) {
  index_ = make_index(index, store_, parameters_);
}

SubscriptionId Engine::subscribe(const ExternalId& id, std::span<const WordClause> clauses,
                                 const Area& area) {
  ids_.check_new(id);
  InternedClauses interned(clauses, vocabulary_);
  const SubscriptionId slot = store_.add({interned.view(), &area});
  interned.keep();
  ids_.bind(id, raw(slot));
  index_->insert(slot);
  return slot;
}

void Engine::remove(SubscriptionId id) {
  index_->erase(id);
  ids_.release(raw(id));
  store_.for_each_entry(id, [&](EntryId entry) {
    const Clause clause = store_.clause(entry);
    vocabulary_.release_all(clause.positive);
    vocabulary_.release_all(clause.negative);
  });
  store_.remove(id);
}

void Engine::unsubscribe(const ExternalId& id) { remove(slot_of(id)); }

void Engine::unsubscribe(const IdColumn& ids) {
  check_ids(ErrorKind::kUnknownId, ids);
  const std::vector<SubscriptionId> slots = slots_of(ids_, ids);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    index_->approach(slots, i);
    remove(slots[i]);
  }
}

void Engine::replace_area(const ExternalId& id, const Area& area) {
  const SubscriptionId slot = slot_of(id);
  index_->erase(slot);
  store_.replace_area(slot, area);
  index_->insert(slot);
}

bool Engine::has(const ExternalId& id) const { return ids_.find(id) != ExternalIds::kNone; }

bool Engine::touches_pair(const ExternalId& id, const Place& place) const {
  return area_touches(store_, slot_of(id), place);
}

std::vector<WordClause> Engine::clauses(SubscriptionId id) const {
  std::vector<WordClause> clauses;
  store_.for_each_entry(id, [&](EntryId entry) {
    const Clause clause = store_.clause(entry);
    WordClause words;
    for (const Token token : clause.positive) words.positive.push_back(vocabulary_.word(token));
    for (const Token token : clause.negative) words.negative.push_back(vocabulary_.word(token));
    clauses.push_back(std::move(words));
  });
  return clauses;
}

Definition Engine::definition(const ExternalId& id) const {
  const SubscriptionId slot = slot_of(id);
  Definition found{{}, store_.area(slot)};
  for (const WordClause& clause : clauses(slot)) {
    found.clauses.push_back({{clause.positive.begin(), clause.positive.end()},
                             {clause.negative.begin(), clause.negative.end()}});
  }
  return found;
}

std::pair<std::vector<std::uint32_t>, std::uint64_t> Engine::tokens_of(
    const WordColumn& words) const {
  return {find_words(words, vocabulary_), vocabulary_.version()};
}

std::uint64_t Engine::vocabulary_version() const { return vocabulary_.version(); }

EngineStats Engine::stats() const {
  return {store_.size(),
          vocabulary_.size(),
          store_.memory_bytes(),
          ids_.memory_bytes(),
          index_->memory_bytes(),
          vocabulary_.memory_bytes() + learned_.memory_bytes(),
          moving_ == nullptr ? 0 : moving_->message_bytes()};
}

void Engine::check_invariants(std::vector<std::uint32_t> uses) const {
  vocabulary_.check_invariants();
  check_uses(std::move(uses));
  ensure(ids_.size() == store_.size(), "engine: ids and subscriptions differ in number");
  store_.for_each([&](SubscriptionId id) {
    ensure(ids_.find(ids_.id(raw(id))) == raw(id), "engine: an id leads to another subscription");
  });
  index_->check_invariants();
}

void Engine::check_uses(std::vector<std::uint32_t> uses) const {
  uses.resize(vocabulary_.slots());
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
  for (std::uint32_t token = 0; token < uses.size(); ++token) {
    ensure(vocabulary_.uses(Token{token}) == uses[token],
           "engine: a word is used more or less often than was counted");
  }
}

void Engine::save(ArchiveWriter& out) const {
  vocabulary_.save(out);
  store_.save(out);
  ids_.save(out);
  learned_.save(out);
  save_sample(sample_, out);
  index_->save(out);
}

void Engine::load(ArchiveReader& in, bool is_part) {
  vocabulary_.load(in);
  store_.load(in);
  ids_.load(in);
  learned_.load(in);
  sample_ = load_sample(in);
  check_sample(sample_, vocabulary_.slots());
  if (in.is_checking()) {
    const Claims known = vocabulary_.check_loaded();
    for (const Token token : learned_) expect(known.has(raw(token)), "a word that was learned");
    store_.check_loaded(known);
    ids_.check_loaded(store_.slots(), store_.size(), /*has_to_be_words=*/false,
                      [&](std::uint32_t slot) { return store_.is_live(SubscriptionId{slot}); });
    if (!is_part) check_uses({});
  }
  if (sample_.size() != 0) index_->learn(sample_);
  index_->load(in);
}

}  // namespace nearcast
