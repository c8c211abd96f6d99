/// One index with all it needs: words, subscriptions, the users' ids, and the loop over a batch.
///
/// Nothing here locks: its owner sees to it that changes run alone (engine/guarded.h). Any number
/// of const calls may run at once. A call that throws has changed nothing.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearcast/engine/columns.h"
#include "nearcast/engine/external_ids.h"
#include "nearcast/engine/reading.h"
#include "nearcast/engine/scratch_pool.h"
#include "nearcast/index/match_index.h"
#include "nearcast/index/moving_index.h"
#include "nearcast/index/parameters.h"
#include "nearcast/model/message_backlog.h"
#include "nearcast/model/subscription_store.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

/// A subscription in words, as one call brings it.
struct WordClause {
  std::vector<std::string_view> positive, negative;
};

/// A subscription in words, as it was given. The words are copies.
struct Definition {
  struct Alternative {
    std::vector<std::string> positive, negative;
  };
  std::vector<Alternative> clauses;
  Area area;
};

/// What one matching thread needs.
struct BatchScratch {
  MatchScratch match;
  MatchSink sink;
  ReadingScratch reading;
};

class Engine {
 public:
  using GivenParameters = std::map<std::string, ParameterValue>;

  Engine(std::string index, GivenParameters parameters);

  SubscriptionId subscribe(const ExternalId& id, std::span<const WordClause> clauses,
                           const Area& area);
  void subscribe(const SubscriptionColumns& rows);
  void unsubscribe(const ExternalId& id);
  void unsubscribe(const IdColumn& ids);
  void replace_area(const ExternalId& id, const Area& area);
  bool has(const ExternalId& id) const;
  bool has_only_words() const { return ids_.size() == 0 || ids_.has_words(); }  ///< as ids
  void learn(const MessageColumns& messages);

  MatchColumns match(const MessageColumns& messages, bool is_timed) const;
  /// What no index can beat, for benchmarks: find where the lists of each message begin, touch
  /// them, and copy the answer, which is known. `ends` tells where each message's answer ends.
  MatchColumns floor(const MessageColumns& messages, std::span<const std::int64_t> ends,
                     std::span<const std::int64_t> answers) const;
  MatchColumns match_one(std::span<const std::string_view> words, const Place& place) const;
  bool matches_pair(const ExternalId& id, std::span<const std::string_view> words,
                    const Place& place) const;

  bool touches_pair(const ExternalId& id, const Place& place) const;  ///< the area alone

  /// What was subscribed under this id, for explanations.
  Definition definition(const ExternalId& id) const;

  /// Tokens of a dictionary's words (kUnknownToken: not known), and the vocabulary's version.
  std::pair<std::vector<std::uint32_t>, std::uint64_t> tokens_of(const WordColumn& words) const;
  std::uint64_t vocabulary_version() const;

  /// For other engines of the same hub.
  const std::shared_ptr<Vocabulary>& vocabulary() const { return shared_vocabulary_; }

  // ---- for the hub, which has messages of its own: in tokens and slots -------------------------

  /// Throws an unknown-id error.
  SubscriptionId slot_of(const ExternalId& id) const { return SubscriptionId{ids_.slot_of(id)}; }
  bool is_live(SubscriptionId id) const { return raw(id) < store_.slots() && store_.is_live(id); }
  std::string_view word(SubscriptionId id) const { return ids_.word(raw(id)); }
  Area area(SubscriptionId id) const { return store_.area(id); }
  std::vector<WordClause> clauses(SubscriptionId id) const;  ///< views, until the next change
  /// The tokens of a text, ascending and distinct, and how often each occurs (empty: once each).
  /// Unknown words become known if `is_growing`, with one use of each word that the caller ends by
  /// release_words(); otherwise they are left out.
  void read(std::span<const std::string_view> words, bool is_growing, std::vector<Token>& tokens,
            std::vector<std::uint32_t>& counts);
  std::vector<Token> intern(const WordColumn& words);  ///< by position, one use each
  void hold_words(TokenSpan tokens);
  void release_words(TokenSpan tokens);
  void find_known(std::span<const std::string_view> words, std::vector<Token>& tokens) const;
  /// Who matches? The answer is in scratch.sink.
  void match(const Message& message, BatchScratch& scratch) const;

  /// From now on the index also keeps messages. It takes in those that are there by catch_up().
  void hold(const MessageStore& messages);
  bool is_holding() const { return moving_ != nullptr; }
  void catch_up(std::size_t count);                ///< with at most so many messages
  void keep(MessageId id, BatchScratch& scratch);  ///< match it, and keep it
  void drop(MessageId id);
  void find(SubscriptionId id, std::vector<MessageId>& out) const;
  void move(SubscriptionId id, const Area& area, MoveChanges& changes);

  EngineStats stats() const;
  const std::string& index_name() const { return index_name_; }
  const GivenParameters& parameters() const { return parameters_; }
  /// `uses`: of words, by token, that others hold.
  void check_invariants(std::vector<std::uint32_t> uses = {}) const;
  void check_uses(std::vector<std::uint32_t> uses) const;  ///< the same, of words alone

  void save(ArchiveWriter& out) const;
  /// `is_part`: others use its words as well, and their owner calls check_uses().
  void load(ArchiveReader& in, bool is_part = false);

 private:
  SubscriptionId add_row(const SubscriptionColumns& rows, std::size_t row, TokenSpan tokens);
  void check_rows(const SubscriptionColumns& rows) const;
  template <typename Visit>
  void visit_groups(const MessageColumns& messages, bool is_timed, BatchScratch& scratch,
                    MatchColumns& out, Visit&& visit) const;
  void run(const Message& message, BatchScratch& scratch) const;
  void remove(SubscriptionId id);

  std::string index_name_;
  GivenParameters parameters_;
  std::shared_ptr<Vocabulary> shared_vocabulary_ = std::make_shared<Vocabulary>();
  Vocabulary& vocabulary_ = *shared_vocabulary_;
  SubscriptionStore store_;
  ExternalIds ids_;
  Array<Token> learned_;  ///< of the sample that was learned last, each once: their words are held
  MessageSample sample_;  ///< what the index has learned from last, if its kind does
  std::unique_ptr<MatchIndex> index_;
  MovingIndex* moving_ = nullptr;           ///< index_, once it holds messages
  const MessageStore* messages_ = nullptr;  ///< theirs
  MessageBacklog backlog_;                  ///< messages that moving_ has not taken in yet
  mutable ScratchPool<BatchScratch> scratches_;
};

}  // namespace nearcast
