/// Under which tokens does the Rt+-tree file a subscription? Its prefix, rarest first. [Rt §6.2]
///
/// PrefixStore keeps each subscription's tokens in the order that was in force when it was
/// inserted, and how many of them are in its two prefixes; a new epoch changes both, so the index
/// is built anew. PrefixKeys is one of the two prefixes in the form that
/// index/papers/rt_tree/token_counts.h needs. A
/// subscription for which text must not prune is filed under the token that all messages have
/// (index/papers/rt_tree/token_key.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/index/papers/rt_tree/token_key.h"
#include "nearcast/rank/rank_store.h"

namespace nearcast {

class PrefixStore {
 public:
  explicit PrefixStore(const RankStore& store) : store_(store) {}

  std::span<const TokenKey> keys(EntryId entry) const {
    return {keys_.at(rows_[raw(entry)].start), rows_[raw(entry)].count};
  }
  const Prefixes& prefixes(EntryId entry) const { return rows_[raw(entry)].prefixes; }

  void admit(std::span<const EntryId> entries);
  void forget(EntryId entry);

  std::size_t memory_bytes() const;

 private:
  struct Row {
    std::uint32_t start;  ///< in keys_
    std::uint32_t count;  ///< tokens that are in one of the prefixes
    Prefixes prefixes;
  };

  void count(EntryId entry, int step);
  void add(EntryId entry);

  const RankStore& store_;
  Array<std::uint32_t> frequencies_;  ///< by token: subscriptions that have it
  Array<Row> rows_;                   ///< by entry
  ListArena<TokenKey> keys_;
};

enum class Contact { kTouches, kMisses };

/// The prefix for messages that touch the area, or for those that do not.
template <Contact contact>
class PrefixKeys {
 public:
  explicit PrefixKeys(const PrefixStore& store) : store_(store) {}

  template <typename Visit>
  void for_each_key(EntryId entry, Visit&& visit) const {
    const Prefixes& prefixes = store_.prefixes(entry);
    const std::uint16_t length = contact == Contact::kTouches ? prefixes.near : prefixes.far;
    if (length == Prefixes::kNothingNeeded) return visit(kNoKeyword);
    for (const TokenKey key : store_.keys(entry).first(length)) visit(key);
  }
  // The store has the prefixes; the owner of both calls the store first.
  void admit(std::span<const EntryId>) {}
  void forget(EntryId) {}
  std::size_t memory_bytes() const { return 0; }
  void check_invariants() const {}

 private:
  const PrefixStore& store_;
};

}  // namespace nearcast
