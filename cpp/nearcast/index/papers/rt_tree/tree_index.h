/// A match index on an R-tree with a summary (r_tree/entry_tree.h). Each kind has its own search.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "nearcast/index/match_index.h"
#include "nearcast/index/parts/r_tree/entry_tree.h"

namespace nearcast {

template <typename Summary>
class TokenTreeIndex : public MatchIndex {
 public:
  template <typename... SummaryArguments>
  TokenTreeIndex(const SubscriptionStore& store, const Parameters& parameters,
                 SummaryArguments&&... arguments)
      : MatchIndex(store),
        tree_(store, r_tree_limits(parameters), std::forward<SummaryArguments>(arguments)...) {}

  void insert(SubscriptionId id) override { tree_.insert(id); }
  void erase(SubscriptionId id) override { tree_.erase(id); }
  void build(std::span<const SubscriptionId> ids) override { tree_.build(ids); }

  std::size_t memory_bytes() const override { return tree_.memory_bytes(); }
  void check_invariants() const override { tree_.check_invariants(); }

 protected:
  EntryTree<Summary> tree_;
};

}  // namespace nearcast
