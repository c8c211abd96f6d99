/// The common part of all indexes on an R-tree with a summary: one entry per clause, filed by its
/// box, and how entries are inserted and erased. Each kind has its own way to search for a message.
///
/// Besides the hooks of r_tree/node_summary.h a Summary has
///
///   admit(entries)       they are inserted next; choose now what must not change while they stay
///   forget(entry)        it has left the tree
///   memory_bytes, check_invariants(nodes), save, load
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/index/parts/r_tree/r_tree.h"
#include "nearcast/model/subscription_store.h"

namespace nearcast {

template <typename Summary>
class EntryTree : public RTree<Summary> {
 public:
  template <typename... SummaryArguments>
  EntryTree(const SubscriptionStore& store, RTreeLimits limits, SummaryArguments&&... arguments)
      : RTree<Summary>(limits, std::forward<SummaryArguments>(arguments)...), store_(store) {}

  void insert(SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      this->summary().admit(std::span(&entry, 1));
      RTree<Summary>::insert(entry, store_.bounds(id));
    });
  }

  void erase(SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      RTree<Summary>::erase(entry);
      this->summary().forget(entry);
    });
  }

  void build(std::span<const SubscriptionId> ids);

  std::size_t memory_bytes() const {
    return RTree<Summary>::memory_bytes() + this->summary().memory_bytes();
  }
  void check_invariants() const;

 private:
  const SubscriptionStore& store_;
};

template <typename Summary>
void EntryTree<Summary>::build(std::span<const SubscriptionId> ids) {
  if (this->size() != 0) {
    for (const SubscriptionId id : ids) insert(id);
    return;
  }
  std::vector<EntryId> entries;
  std::vector<Rect> boxes;
  for (const SubscriptionId id : ids) {
    store_.for_each_entry(id, [&](EntryId entry) {
      entries.push_back(entry);
      boxes.push_back(store_.bounds(id));
    });
  }
  this->summary().admit(entries);
  RTree<Summary>::build(entries, boxes);
}

template <typename Summary>
void EntryTree<Summary>::check_invariants() const {
  RTree<Summary>::check_invariants();
  std::size_t expected = 0;
  store_.for_each(
      [&](SubscriptionId id) { store_.for_each_entry(id, [&](EntryId) { ++expected; }); });
  ensure(this->size() == expected, "token tree: the tree holds more or fewer than the store");
  if (expected == 0) return;
  this->nodes().for_each_entry_below(this->nodes().root(), [&](EntryId entry, const Rect& box) {
    const SubscriptionId id = store_.owner(entry);
    ensure(store_.is_live(id) && box == store_.bounds(id),
           "token tree: a box is not its subscription's");
  });
  this->summary().check_invariants(this->nodes());
}

}  // namespace nearcast
