/// What pruning has to know of each subscription. [Skype §5.3 the subscription table]
///
///   row    needs, distance to the border of its cell, where it is filed
///   term   weight, wtsum and maxwt of each token, in the global order (topk/arrival/newcomer.h)
#pragma once

#include <algorithm>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/index/quad_tree/quad_nodes.h"
#include "nearcast/topk/arrival/needs.h"

namespace nearcast::igpt {

struct Term {
  float weight;
  float weight_sum, max_weight;  ///< of this one and all behind it
};

struct Row {
  float score, alpha;  ///< kScore*, α*
  float inner;         ///< nearness lost between it and the border of its cell
  QuadNodeId cell;
  std::uint32_t place;              ///< among the members of its cell
  std::uint32_t terms, term_count;  ///< position in the arena
};

class SubscriptionTable {
 public:
  explicit SubscriptionTable(const TopState& state) : state_(state) {}

  const Row& operator[](SubscriptionId id) const { return rows_[raw(id)]; }
  Row& operator[](SubscriptionId id) { return rows_[raw(id)]; }
  void prefetch(SubscriptionId id) const { prefetch_line(&rows_[raw(id)]); }
  const Term& term(std::uint32_t position) const { return *terms_.at(position); }
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
    row.score = now.score;
    row.alpha = now.alpha;
    row.term_count = static_cast<std::uint32_t>(state_.subscriptions.tokens(id).size());
    row.terms = terms_.allocate(row.term_count);
    double sum = 0, most = 0;
    for (std::uint32_t i = row.term_count; i-- > 0;) {
      const double weight = (*state_.weights)[token(id, i)] / state_.subscriptions[id].length;
      sum += weight;
      most = std::max(most, weight);
      *terms_.at(row.terms + i) = {rounded_up(weight), rounded_up(sum), rounded_up(most)};
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
