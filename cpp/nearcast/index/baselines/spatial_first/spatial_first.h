/// Spatial-first: an R-tree of subscriptions; a message visits the boxes it touches and tests
/// keywords and exact area of each. [Rt §2.3 spatial-first baseline]
///
/// A baseline meant to be hard to beat: boxes of a node lie side by side, the whole tree in three
/// arrays, and each subscription has one place however many clauses it has, since they share the
/// area. So nothing can be met twice, and a message of two parts (across the antimeridian) is one
/// walk through the tree.
#pragma once

#include "nearcast/index/match_index.h"
#include "nearcast/index/parameters.h"
#include "nearcast/index/parts/r_tree/r_tree.h"

namespace nearcast {

class SpatialFirst final : public MatchIndex {
 public:
  SpatialFirst(const SubscriptionStore& store, const Parameters& parameters)
      : MatchIndex(store), tree_(r_tree_limits(parameters)) {}
  static std::vector<ParameterSpec> parameters() { return r_tree_parameters(); }

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  std::size_t memory_bytes() const override { return tree_.memory_bytes(); }
  void check_invariants() const override;

 private:
  /// A subscription without a clause never matches and is not in the tree.
  bool has_clause(SubscriptionId id) const;
  /// The entry that represents the whole subscription in the tree: its first clause.
  static EntryId entry_of(SubscriptionId id) { return EntryId{raw(id)}; }

  RTree<> tree_;
};

}  // namespace nearcast
