/// Subscriptions of one mode under the users' ids, and the words they share: what a Matcher of
/// Python is.
///
/// Set is MatchSet or RankSet. Nothing here locks (engine/guarded.h does). Any number of const
/// calls may run at once. A call that throws has changed nothing.
#pragma once

#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearcast/base/list_room.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/columns/reading.h"
#include "nearcast/engine/word_uses.h"
#include "nearcast/modes/match_set.h"
#include "nearcast/modes/rank_set.h"
#include "nearcast/modes/sizes.h"

namespace nearcast {

template <typename Set>
class Matcher {
 public:
  Matcher(std::string index, GivenParameters parameters)
      : set_(std::move(index), std::move(parameters), words_, terms_) {}

  /// What follows is what Set::add() takes. With `replaces` it takes the place of what has the id,
  /// if anything has: that is removed when the new one is there, so an error changes nothing.
  template <typename... Arguments>
  void subscribe(const ExternalId& id, bool replaces, Arguments&&... arguments) {
    const std::uint32_t old = replaces ? ids_.find(id) : ExternalIds::kNone;
    if (old == ExternalIds::kNone) ids_.check_new(id);
    room_.check();
    const ListRoom::Change change(room_);
    const SubscriptionId added = set_.add(std::forward<Arguments>(arguments)...);
    if (old != ExternalIds::kNone) {
      ids_.release(old);
      set_.remove(SubscriptionId{old});
      room_.has_released();
    }
    ids_.bind(id, raw(added));
  }
  void subscribe(const typename Set::Rows& rows) { subscribe_rows(rows); }
  /// Of any form that the set adds at once.
  template <typename Rows>
  void subscribe_rows(const Rows& rows) {
    room_.check();
    const ListRoom::Change change(room_);
    set_.add(rows, ids_);
  }
  /// Subscribes row by row, where columns do not say it all: add(set, row) returns the slot.
  template <typename Add>
  void subscribe_each(const IdColumn& ids, std::size_t rows, Add&& add) {
    room_.check();
    const ListRoom::Change change(room_);
    std::vector<std::uint32_t> order(rows);
    std::iota(order.begin(), order.end(), 0u);
    add_rows(
        ids, rows, ids_, order, [&](std::size_t row) { return add(set_, row); },
        [&](SubscriptionId slot) { set_.remove(slot); });
  }
  void unsubscribe(const ExternalId& id) {
    const SubscriptionId slot = slot_of(id);
    ids_.release(raw(slot));
    set_.remove(slot);
    room_.has_released();
  }
  void unsubscribe(const IdColumn& ids) {
    check_ids(ErrorKind::kUnknownId, ids);
    const std::vector<SubscriptionId> slots = slots_of(ids_, ids);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      set_.approach(slots, i);
      ids_.release(raw(slots[i]));
      set_.remove(slots[i]);
    }
    room_.has_released();
  }
  bool has(const ExternalId& id) const { return ids_.find(id) != ExternalIds::kNone; }
  SubscriptionId slot_of(const ExternalId& id) const {  ///< throws an unknown-id error
    return SubscriptionId{ids_.require(id)};
  }

  MatchColumns answer(const MessageColumns& messages, bool is_timed) const {
    return set_.answer(messages, ids_, is_timed);
  }
  MatchColumns answer_one(const Saying& saying, const Place& place) const {
    return set_.answer_one(saying, place, ids_);
  }

  /// Tokens of a dictionary's words (kUnknownToken: not known), and the vocabulary's version.
  std::pair<std::vector<std::uint32_t>, std::uint64_t> tokens_of(const WordColumn& words) const {
    return {find_words(words, words_), words_.version()};
  }
  std::uint64_t vocabulary_version() const { return words_.version(); }

  // What only one of the two modes has.
  void learn(const MessageColumns& messages) { set_.learn(messages); }
  void weigh(const EpochColumns* epoch);
  double score_pair(const ExternalId& id, std::span<const std::string_view> words,
                    const Place& place) const;
  const Set& set() const { return set_; }

  const std::string& index_name() const { return set_.index_name(); }
  const GivenParameters& parameters() const { return set_.parameters(); }
  MatcherSizes sizes() const {
    return {set_.sizes(), words_.size(), words_.memory_bytes() + terms_.memory_bytes(),
            ids_.memory_bytes()};
  }
  void check_invariants() const {
    words_.check_invariants();
    check_uses();
    ensure(ids_.size() == set_.size(), "matcher: ids and subscriptions differ in number");
    for (std::uint32_t slot = 0; slot < set_.slots(); ++slot) {
      if (!set_.has(SubscriptionId{slot})) continue;
      ensure(ids_.find(ids_.id(slot)) == slot, "matcher: an id leads to another subscription");
    }
    set_.check_invariants();
  }

  void save(ArchiveWriter& out) const {
    words_.save(out);
    terms_.save(out);
    ids_.save(out);
    set_.save(out);
  }
  void load(ArchiveReader& in) {  ///< into a new matcher with the same settings
    words_.load(in);
    terms_.load(in);
    const Claims known = in.is_checking() ? words_.check_loaded() : Claims(0);
    ids_.load(in);
    set_.load(in, known);
    if (!in.is_checking()) return;
    ids_.check_loaded(set_.slots(), set_.size(), /*has_to_be_words=*/false,
                      [&](std::uint32_t slot) { return set_.has(SubscriptionId{slot}); });
    check_uses();
  }

 private:
  void check_uses() const {
    std::vector<std::uint32_t> uses(words_.slots());
    set_.count_uses(uses);
    check_word_uses(words_, uses);
    TermRegistry terms;
    set_.count_terms(terms);
    ensure(terms == terms_, "matcher: a term is used more or less often than was counted");
  }

  ListRoom room_;
  Vocabulary words_;
  TermRegistry terms_;
  ExternalIds ids_;
  Set set_;
};

template <>
inline void Matcher<RankSet>::weigh(const EpochColumns* epoch) {
  if (epoch == nullptr) {
    set_.weigh(nullptr);
  } else {
    with_tokens(*epoch, words_, [&](const Epoch& in_tokens) { set_.weigh(&in_tokens); });
  }
}

template <>
inline double Matcher<RankSet>::score_pair(const ExternalId& id,
                                           std::span<const std::string_view> words,
                                           const Place& place) const {
  std::vector<Token> tokens;
  find_tokens(words_, words, tokens);
  return set_.store().score(slot_of(id), {tokens, place});
}

}  // namespace nearcast
