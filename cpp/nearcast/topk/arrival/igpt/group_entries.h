/// A group of two or more: subscriptions of one cell with a token and similar α, by rising kScore*.
/// [Skype §5.2]
///
/// An entry has the largest α*, maxwt and wtsum of itself and all behind it. So the first entry
/// decides about the group (Theorem 3), and the scan ends at the first entry for which the
/// inequality holds (Theorem 4).
///
/// When a threshold changes, its entry is removed and added again; those before it are updated at
/// once, so nothing is ever stale. A group is short: a cell has few subscriptions with one token.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/topk/arrival/igpt/subscription_table.h"

namespace nearcast::igpt {

struct Entry {
  std::uint32_t term;               ///< in the table
  float score;                      ///< kScore*
  float alpha, weight, weight_sum;  ///< the largest α*, maxwt and wtsum from here on

  void take_in(const Entry& behind) {
    alpha = std::max(alpha, behind.alpha);
    weight = std::max(weight, behind.weight);
    weight_sum = std::max(weight_sum, behind.weight_sum);
  }
  bool has_bounds_of(const Entry& other) const {
    return alpha == other.alpha && weight == other.weight && weight_sum == other.weight_sum;
  }

  /// A group of one.
  static Entry of(const SubscriptionTable& table, std::uint32_t term) {
    const Term& own = table.term(term);
    return {term, own.score, own.alpha, own.max_weight(), rounded_up(own.weight_sum())};
  }
  bool is_before(const Entry& other) const {
    return score < other.score || (score == other.score && term < other.term);
  }
};

class GroupEntries {
 public:
  explicit GroupEntries(const SubscriptionTable& table) : table_(table) {}

  void add(ListHandle& group, std::uint32_t term);
  /// Is there, and its score is the one that it was added with.
  void remove(ListHandle& group, std::uint32_t term);
  void release(ListHandle& group) { arena_.release(group); }
  std::span<const Entry> view(const ListHandle& group) const { return arena_.view(group); }
  void prefetch(const ListHandle& group) const { prefetch_line(arena_.at(group.start)); }
  void clear() { arena_ = {}; }

  std::size_t memory_bytes() const { return arena_.memory_bytes(); }
  void check(const ListHandle& group) const;

 private:
  /// The largest before `end`, when what was there has changed.
  void repair(std::span<Entry> all, std::size_t end);

  const SubscriptionTable& table_;
  ListArena<Entry> arena_;
};

}  // namespace nearcast::igpt
