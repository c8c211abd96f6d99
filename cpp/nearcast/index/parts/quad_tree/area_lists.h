/// Many lists of entries that are searched by place. A short list is scanned; one of more than
/// max_leaf entries is a quadtree. RQ-Tree has one list per keyword, Trie-Qd one per set of
/// keywords. [AP §5.1.1 RQ-Tree, §5.1.2 Trie-Qd]
#pragma once

#include <vector>

#include "nearcast/index/parts/quad_tree/cell_lists.h"

namespace nearcast {

/// One list; its user keeps this handle. All zero: an empty list.
struct AreaList {
  ListHandle plain;
  QuadNodeId root;  ///< none: the list is plain

  bool is_empty() const { return root == kNoQuadNode && plain.size == 0; }
};

class AreaLists {
 public:
  using Item = CellLists::Item;

  AreaLists(QuadLimits limits, const SubscriptionStore& store, const Workload& workload,
            double copy_cost)
      : store_(store), forest_(limits, store, workload, copy_cost) {}

  /// `chance`: the probability that a message reads this list. Used if the list becomes a tree.
  void insert(AreaList& list, const Item& item, double chance);
  void erase(AreaList& list, const Item& item);                        ///< is there
  void build(AreaList& list, std::vector<Item> items, double chance);  ///< is empty
  void clear();

  /// Calls visit(postings) for each list of entries that the place may touch.
  template <typename Visit>
  void search(const AreaList& list, const Place& place, WorkCounters& work, Visit&& visit) const {
    if (list.root != kNoQuadNode) {
      forest_.search(list.root, place, work,
                     [&](QuadNodeId node) { forest_.content().for_each_block(node, visit); });
    } else if (list.plain.size != 0) {
      ++work.nodes_visited;
      visit(plain_.view(list.plain));
    }
  }

  const QuadForest<CellLists>& forest() const { return forest_; }
  void watch(CellWatcher& watcher) { forest_.content().watch(watcher); }

  std::size_t memory_bytes() const;
  /// Throws unless the list is whole. Returns the number of its postings, copies included.
  std::size_t check(const AreaList& list) const;
  /// Throws unless the item is wherever it should be. Returns the number of its copies.
  std::size_t check_item(const AreaList& list, const Item& item) const;

 private:
  void make_tree(AreaList& list, std::vector<Item> items, double chance);
  void make_plain(AreaList& list);

  const SubscriptionStore& store_;
  ListArena<QuadPosting> plain_;
  QuadForest<CellLists> forest_;
};

}  // namespace nearcast
