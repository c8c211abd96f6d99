/// All rank subscriptions: tokens and box in a SubscriptionStore, and beside it, by the same id,
/// what only rank mode needs. It knows the weights in force, and so the score of any pair.
///
///   per subscription    24 bytes: alpha, threshold, weight of all its tokens
///
/// The weight is kept because every score divides by it; a new epoch weighs all anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/model/rank_score.h"
#include "nearcast/model/subscription_store.h"
#include "nearcast/rank/text_needs.h"
#include "nearcast/text/token_weights.h"

namespace nearcast {

class RankStore {
 public:
  /// Tokens ascend and are distinct, one at least; west > east: the area crosses the antimeridian.
  SubscriptionId add(TokenSpan tokens, const Rect& area, const RankTerms& terms);
  void remove(SubscriptionId id);
  void replace_area(SubscriptionId id, const Rect& area);

  std::size_t size() const { return subscriptions_.size(); }
  std::size_t slots() const { return subscriptions_.slots(); }  ///< ids are below this
  bool is_live(SubscriptionId id) const { return subscriptions_.is_live(id); }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    subscriptions_.for_each(visit);
  }

  /// Boxes, tokens and entries in the form that parts of index/ need: one clause each.
  const SubscriptionStore& subscriptions() const { return subscriptions_; }
  static EntryId entry_of(SubscriptionId id) { return EntryId{raw(id)}; }

  const RankTerms& terms(SubscriptionId id) const { return extras_[raw(id)].terms; }
  double weight(SubscriptionId id) const { return extras_[raw(id)].weight; }  ///< Σω, above 0
  TokenSpan tokens(SubscriptionId id) const { return subscriptions_.clause(entry_of(id)).positive; }
  const Rect& bounds(SubscriptionId id) const { return subscriptions_.bounds(id); }
  Rect area(SubscriptionId id) const;  ///< as subscribed: may have west > east

  double spatial(SubscriptionId id, const Place& place) const;
  double textual(SubscriptionId id, TokenSpan said) const {
    return textual_similarity(tokens(id), weight(id), said, weights_);
  }
  double score(SubscriptionId id, const Message& message) const {
    return combine(terms(id).alpha, spatial(id, message.place), textual(id, message.tokens));
  }
  bool accepts(SubscriptionId id, double score) const {
    return reaches(score, terms(id).threshold);
  }

  /// The weights of the subscription's tokens, in the caller's order.
  Prefixes prefixes(SubscriptionId id, TokenSpan in_order) const;

  const TokenWeights& weights() const { return weights_; }
  void start_epoch(std::uint64_t documents, std::span<const TokenWeights::Count> counts);
  void end_epoch();

  /// Prefetch what score() reads: first step 0, then step 1.
  void prefetch(SubscriptionId id, int step) const {
    subscriptions_.prefetch(entry_of(id), step);
    if (step != 0) return;
    prefetch_line(&extras_[raw(id)]);
    prefetch_line(&subscriptions_.bounds(id));
  }

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Throws a snapshot error if what was read is not sound, or has a token that is not known.
  void check_loaded(const Claims& known_tokens, std::size_t tokens) const;

 private:
  struct Extra {
    RankTerms terms;
    double weight;
  };

  void weigh_all();

  SubscriptionStore subscriptions_;
  Array<Extra> extras_;
  TokenWeights weights_;
};

}  // namespace nearcast
