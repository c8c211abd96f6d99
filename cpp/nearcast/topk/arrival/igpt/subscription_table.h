/// What pruning has to know of each subscription. [Skype §5.3 the subscription table]
///
///   row    the cell it is in, its place there, where its terms are
///   term   one of its tokens, in the global order (topk/arrival/newcomer.h), with all that the
///          bounds for single subscriptions need: half a cache line
#pragma once

#include <algorithm>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/index/parts/quad_tree/quad_nodes.h"
#include "nearcast/topk/arrival/needs.h"

namespace nearcast::igpt {

struct Term {
  float weight;
  float behind_sum, behind_max;  ///< of the weights behind it
  float score, alpha;            ///< kScore*, α* of the subscription
  float inner;                   ///< nearness lost between it and the border of its cell
  SubscriptionId id;
  std::uint32_t group;  ///< that it is filed in

  double weight_sum() const { return double{weight} + behind_sum; }               ///< wtsum(s.w)
  float max_weight() const { return weight < behind_max ? behind_max : weight; }  ///< maxwt(s.w)
};
static_assert(sizeof(Term) == 32);

struct Row {
  QuadNodeId cell;
  std::uint32_t place;              ///< among the members of its cell
  std::uint32_t terms, term_count;  ///< position in the arena
};

class SubscriptionTable {
 public:
  explicit SubscriptionTable(const TopState& state) : state_(state) {}

  const Row& operator[](SubscriptionId id) const { return rows_[raw(id)]; }
  Row& operator[](SubscriptionId id) { return rows_[raw(id)]; }
  const Term& term(std::uint32_t position) const { return *terms_.at(position); }
  Term& term(std::uint32_t position) { return *terms_.at(position); }
  void prefetch_term(std::uint32_t position) const { prefetch_line(terms_.at(position)); }
  std::span<Term> terms(SubscriptionId id) {
    const Row& row = rows_[raw(id)];
    return {terms_.at(row.terms), row.term_count};
  }
  Needs needs(SubscriptionId id) const {
    return {state_.subscriptions[id].alpha, state_.buffers.threshold(id)};
  }
  /// The token of the i-th term.
  Token token(SubscriptionId id, std::uint32_t i) const {
    const TokenSpan tokens = state_.subscriptions.tokens(id);
    return tokens[tokens.size() - 1 - i];
  }

  void add(SubscriptionId id) {
    if (raw(id) >= rows_.size()) rows_.resize(raw(id) + 1);
    Row& row = rows_[raw(id)];
    const Needs now = needs(id);
    row.term_count = static_cast<std::uint32_t>(state_.subscriptions.tokens(id).size());
    row.terms = terms_.allocate(row.term_count);
    double sum = 0, most = 0;
    for (std::uint32_t i = row.term_count; i-- > 0;) {
      const double weight = (*state_.weights)[token(id, i)] / state_.subscriptions[id].length;
      term(row.terms + i) = {
          rounded_up(weight), rounded_up(sum), rounded_up(most), now.score, now.alpha, 0, id, 0};
      sum += weight;
      most = std::max(most, weight);
    }
  }
  void remove(SubscriptionId id) {
    Row& row = rows_[raw(id)];
    terms_.free(row.terms, row.term_count);
    row = {};
  }
  void clear() {
    rows_.clear();
    terms_ = {};
  }

  std::size_t memory_bytes() const { return rows_.memory_bytes() + terms_.memory_bytes(); }

 private:
  const TopState& state_;
  Array<Row> rows_;
  ListArena<Term> terms_;
};

}  // namespace nearcast::igpt
