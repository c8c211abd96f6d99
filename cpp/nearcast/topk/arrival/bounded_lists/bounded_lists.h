/// Bounded lists: our own arrival index, which `auto` stands for. Lists by token, read by vector
/// instructions.
///
/// A subscription is in the list of each of its tokens. A newcomer reads the lists of its own
/// tokens:
///
///   short lists   in full; an entry's bound counts further tokens if they may be common
///   long lists    through a directory of bounds for blocks of eight (long_list.h), as if the
///                 list's token were the only common one: otherwise the bounds would rule out
///                 little
///   pairs         therefore subscriptions with two *long* tokens are in the list of the pair too,
///                 and newcomers look up the pairs of their own long tokens. A newcomer with very
///                 many tokens reads long lists with bounds that count further tokens instead: each
///                 of its tokens weighs little
///
/// A subscription that has several tokens in common with a newcomer is found at least once with all
/// of them counted: in a short list, or in that of a pair. What passes is scored exactly and
/// reported once.
///
/// Entries of a block are sorted by α first, because the bound of a block is that of its worst
/// entry and depends more on α than on place. The score itself is bounded, never a quotient by α or
/// 1 − α: both may be 0.
#pragma once

#include <vector>

#include "nearcast/topk/arrival/arrival_index.h"
#include "nearcast/topk/arrival/bounded_lists/entry_lists.h"
#include "nearcast/topk/planar_frame.h"
#include "nearcast/topk/token_pairs.h"
#include "nearcast/topk/top_tuning.h"

namespace nearcast {

class BoundedLists final : public ArrivalIndex {
 public:
  BoundedLists(const TopState& state, const TopTuning& tuning);

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void clear() override;
  void threshold_changed(SubscriptionId id, Units old) override;
  void find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

 private:
  /// What all lists use of the newcomer.
  struct Newcomer {
    bounded_lists::Query query;
    double unit;  ///< the weight of a token of idf 1 that occurs once
  };
  /// A list that the newcomer reads.
  struct Reading {
    const bounded_lists::EntryLists* lists;
    std::size_t key;
    float token_weight;  ///< of the query
    bool counts_others;  ///< further tokens may be common
  };
  /// What a search needs besides the index; see search.inc.h.
  struct Scratch {
    std::vector<Reading> readings;
    std::vector<std::uint32_t> blocks;
    std::vector<SubscriptionId> candidates;
    std::vector<std::uint32_t> long_tokens;  ///< positions in the newcomer's tokens
    std::vector<double> brings;              ///< by position: what the token adds to a product
  };

  bounded_lists::Entry entry_for(SubscriptionId id, Token a, Token b) const;
  float slack_of(SubscriptionId id) const;
  template <typename Visit>
  void for_each_list(SubscriptionId id, Visit&& visit);  ///< visit(lists, key, entry)
  template <typename Visit>
  void for_each_long_partner(SubscriptionId id, Token token, Visit&& visit) const;
  void make_long(Token token);
  void make_short(Token token);
  void settle_pair(std::uint32_t pair);
  Newcomer meet(MessageId message) const;
  void choose_lists(MessageId message, double unit);
  void verify(MessageId message, std::vector<ArrivalHit>& out);

  std::uint32_t most_long_tokens_;
  bool uses_avx2_;
  PlanarFrame frame_;
  bounded_lists::EntryLists by_token_, by_pair_;
  TokenPairs pairs_;
  Scratch scratch_;
};

}  // namespace nearcast
