/// One list of a cell's inverted file: the cell's subscriptions with a token, group by group of
/// similar α, each group by rising kScore*. [Skype §5.2]
///
/// An entry knows the largest α* and maxwt of itself and all behind it in its group, and how many
/// these are. So a group's first entry says everything about the group (Theorem 3), and the first
/// entry that the inequality holds for ends it (Theorem 4).
///
/// A threshold that moves takes its entry out and puts it in again; those before it in its group
/// are repaired at once, and nothing is ever stale. A group is short: a cell has few subscriptions
/// with one token.
#pragma once

#include <cstdint>
#include <span>

#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/topk/arrival/igpt/subscription_table.h"

namespace nearcast::igpt {

struct Entry {
  SubscriptionId id;
  std::uint32_t term;       ///< of the list's token, in the table
  float score;              ///< kScore*
  float alpha, weight;      ///< the largest α* and maxwt from here to the end of the group
  std::uint32_t left : 28;  ///< entries from here to the end of the group
  std::uint32_t group : 4;

  bool is_before(const Entry& other) const {
    return score < other.score || (score == other.score && raw(id) < raw(other.id));
  }
};
static_assert(sizeof(Entry) == 24);

class GroupedLists {
 public:
  explicit GroupedLists(const SubscriptionTable& table) : table_(table) {}

  /// The entry's id, term, score and group are set.
  void add(ListHandle& list, Entry entry);
  void remove(ListHandle& list, const Entry& entry);  ///< is there, with this score
  void release(ListHandle& list) { arena_.release(list); }
  std::span<const Entry> view(const ListHandle& list) const { return arena_.view(list); }
  void prefetch(const ListHandle& list) const { prefetch_line(arena_.at(list.start)); }
  void clear() { arena_ = {}; }

  std::size_t memory_bytes() const { return arena_.memory_bytes(); }
  void check(const ListHandle& list) const;

 private:
  float own_alpha(const Entry& entry) const { return table_[entry.id].alpha; }
  float own_weight(const Entry& entry) const { return table_.term(entry.term).max_weight; }
  void repair(std::span<Entry> all, std::size_t first, std::size_t end);

  const SubscriptionTable& table_;
  ListArena<Entry> arena_;
};

}  // namespace nearcast::igpt
