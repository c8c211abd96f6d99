/// What all indexes on an R-tree with tokens share: one entry per clause, filed by its box; how
/// entries come and go. How a message finds them is the kind's own.
///
/// Besides the hooks of r_tree/node_summary.h a Summary has
///
///   admit(entries)       they will come next; choose now whatever must not change while they stay
///   forget(entry)        it has left the tree
///   memory_bytes, check_invariants(nodes), save, load
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/index/match_index.h"
#include "nearcast/index/r_tree/r_tree.h"

namespace nearcast {

template <typename Summary>
class TokenTreeIndex : public MatchIndex {
 public:
  template <typename... SummaryArguments>
  TokenTreeIndex(const SubscriptionStore& store, const Parameters& parameters,
                 SummaryArguments&&... arguments)
      : MatchIndex(store),
        tree_(r_tree_limits(parameters), std::forward<SummaryArguments>(arguments)...) {}

  void insert(SubscriptionId id) override {
    store_.for_each_entry(id, [&](EntryId entry) {
      tree_.summary().admit(std::span(&entry, 1));
      tree_.insert(entry, store_.bounds(id));
    });
  }

  void erase(SubscriptionId id) override {
    store_.for_each_entry(id, [&](EntryId entry) {
      tree_.erase(entry);
      tree_.summary().forget(entry);
    });
  }

  void build(std::span<const SubscriptionId> ids) override;

  std::size_t memory_bytes() const override {
    return tree_.memory_bytes() + tree_.summary().memory_bytes();
  }
  void check_invariants() const override;
  void save(ArchiveWriter& out) const override {
    tree_.save(out);
    tree_.summary().save(out);
  }
  void load(ArchiveReader& in) override {
    tree_.load(in);
    tree_.summary().load(in);
  }

 protected:
  RTree<Summary> tree_;
};

template <typename Summary>
void TokenTreeIndex<Summary>::build(std::span<const SubscriptionId> ids) {
  if (tree_.size() != 0) return MatchIndex::build(ids);
  std::vector<EntryId> entries;
  std::vector<Rect> boxes;
  for (const SubscriptionId id : ids) {
    store_.for_each_entry(id, [&](EntryId entry) {
      entries.push_back(entry);
      boxes.push_back(store_.bounds(id));
    });
  }
  tree_.summary().admit(entries);
  tree_.build(entries, boxes);
}

template <typename Summary>
void TokenTreeIndex<Summary>::check_invariants() const {
  tree_.check_invariants();
  std::size_t expected = 0;
  store_.for_each(
      [&](SubscriptionId id) { store_.for_each_entry(id, [&](EntryId) { ++expected; }); });
  ensure(tree_.size() == expected, "token tree: the tree holds more or fewer than the store");
  if (expected == 0) return;
  tree_.nodes().for_each_entry_below(tree_.nodes().root(), [&](EntryId entry, const Rect& box) {
    const SubscriptionId id = store_.owner(entry);
    ensure(store_.is_live(id) && box == store_.bounds(id),
           "token tree: a box is not its subscription's");
  });
  tree_.summary().check_invariants(tree_.nodes());
}

}  // namespace nearcast
