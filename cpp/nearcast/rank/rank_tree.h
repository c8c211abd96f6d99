/// A rank index on an R-tree with a summary (index/parts/r_tree/entry_tree.h): each subscription is
/// one entry, filed by its box. Each kind has its own search and decides what a new epoch changes.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "nearcast/index/parameters.h"
#include "nearcast/index/parts/r_tree/entry_tree.h"
#include "nearcast/rank/rank_index.h"

namespace nearcast {

template <typename Summary>
class RankTree : public RankIndex {
 public:
  template <typename... SummaryArguments>
  RankTree(const RankStore& store, const Parameters& parameters, SummaryArguments&&... arguments)
      : RankIndex(store),
        tree_(store.subscriptions(), r_tree_limits(parameters),
              std::forward<SummaryArguments>(arguments)...) {}

  void insert(SubscriptionId id) override { tree_.insert(id); }
  void erase(SubscriptionId id) override { tree_.erase(id); }
  void build(std::span<const SubscriptionId> ids) override { tree_.build(ids); }

  std::size_t memory_bytes() const override { return tree_.memory_bytes(); }
  void check_invariants() const override { tree_.check_invariants(); }

 protected:
  static SubscriptionId id_of(EntryId entry) { return SubscriptionId{raw(entry)}; }

  EntryTree<Summary> tree_;
};

}  // namespace nearcast
