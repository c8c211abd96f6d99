/// One list of entries per cell, for quadtrees that belong to one keyword or set of keywords. Lists
/// are sorted by entry (base/block_lists.h), because many entries with one area are in one cell.
#pragma once

#include <vector>

#include "nearcast/base/block_lists.h"
#include "nearcast/index/parts/quad_tree/cell_watcher.h"
#include "nearcast/index/parts/quad_tree/posting.h"
#include "nearcast/index/parts/quad_tree/quad_forest.h"
#include "nearcast/index/parts/quad_tree/workload.h"

namespace nearcast {

class CellLists : public QuadContent {
 public:
  struct Item {
    EntryId entry;
    Rect box;
  };

  CellLists(const SubscriptionStore& store, const Workload& workload, double copy_cost)
      : store_(store), workload_(workload), copy_cost_(copy_cost) {}

  /// The probability that a message reads the tree whose root is made next, at any place.
  void expect(double chance) { next_chance_ = static_cast<float>(chance); }
  void watch(CellWatcher& watcher) { watcher_ = &watcher; }

  void created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell);
  void freed(QuadNodeId node);
  void attach(QuadNodeId node, const Item& item);
  void detach(QuadNodeId node, const Item& item);
  void take_all(QuadNodeId node, std::vector<Item>& out);
  bool stays(QuadNodeId node, const QuadCell& cell, const Item& item) const;
  void clear();

  std::size_t size(QuadNodeId node) const { return cells_[raw(node)].list.size; }
  const QuadPosting* find(QuadNodeId node, EntryId entry) const {  ///< or nullptr
    return postings_.find(cells_[raw(node)].list, raw(entry));
  }
  /// Calls visit(postings) for each stretch of the cell's list.
  template <typename Visit>
  void for_each_block(QuadNodeId node, Visit&& visit) const {
    postings_.for_each_block(cells_[raw(node)].list, visit);
  }

  std::size_t memory_bytes() const { return cells_.memory_bytes() + postings_.memory_bytes(); }

 private:
  struct Cell {
    BlockList list;
    float chance;  ///< the probability that a message reads the tree
    float share;   ///< of all messages that visit the cell
  };

  const SubscriptionStore& store_;
  const Workload& workload_;
  double copy_cost_;
  float next_chance_ = 1;
  CellWatcher* watcher_ = nullptr;
  Array<Cell> cells_;  ///< by node
  BlockLists<QuadPosting, QuadPosting::KeyOf> postings_;
};

}  // namespace nearcast
