/// The inverted lists of all cells: by cell and keyword, the entries attached to the cell whose
/// least frequent keyword it is. [AP §3.1 ranked-key inverted list per cell]
///
/// A cell's filter over its keywords (index/parts/key_directory/key_directory.h) stops most words
/// of a message without reading the table.
#pragma once

#include <vector>

#include "nearcast/base/block_lists.h"
#include "nearcast/index/parts/key_directory/key_directory.h"
#include "nearcast/index/parts/quad_tree/cell_watcher.h"
#include "nearcast/index/parts/quad_tree/posting.h"
#include "nearcast/index/parts/quad_tree/quad_forest.h"
#include "nearcast/index/parts/quad_tree/workload.h"
#include "nearcast/model/entry_map.h"

namespace nearcast::iq {

/// Under which keyword an entry is filed, and with which probability the cost rule assumed that a
/// message has it. Both are fixed when the entry is placed, although frequencies change.
struct Choice {
  Token key;  ///< kUnknownToken: a clause without keywords
  float chance;
};

class OrderedLists : public QuadContent {
 public:
  struct Item {
    EntryId entry;
    Choice choice;
    Rect box;
  };

  OrderedLists(const SubscriptionStore& store, const Workload& workload,
               const EntryMap<Choice>& choices, double copy_cost)
      : store_(store), workload_(workload), choices_(choices), copy_cost_(copy_cost) {}

  void watch(CellWatcher& watcher) { watcher_ = &watcher; }

  void created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell);
  void freed(QuadNodeId node);
  void attach(QuadNodeId node, const Item& item);
  void detach(QuadNodeId node, const Item& item);
  void take_all(QuadNodeId node, std::vector<Item>& out);
  bool stays(QuadNodeId node, const QuadCell& cell, const Item& item) const;

  /// The bit of a keyword in the filters. Clauses without keywords have one for themselves.
  static std::uint64_t filter_bit(Token key) { return Directory::filter_bit(raw(key)); }
  std::uint64_t filter(QuadNodeId node) const { return directory_.filter(raw(node)); }
  /// Calls visit(postings) for each stretch of a list.
  template <typename Visit>
  void for_each_block(QuadNodeId node, Token key, Visit&& visit) const {
    const std::uint32_t number = directory_.find(raw(node), raw(key));
    if (number != Directory::kNone) postings_.for_each_block(directory_[number], visit);
  }

  void clear();
  std::size_t memory_bytes() const;
  /// Throws unless the cell's lists are whole. Returns the number of their postings.
  std::size_t check(QuadNodeId node) const;
  bool has(QuadNodeId node, const Item& item) const;

 private:
  using Directory = KeyDirectory<BlockList>;
  static_assert(raw(kUnknownToken) == Directory::kSpecial);

  const SubscriptionStore& store_;
  const Workload& workload_;
  const EntryMap<Choice>& choices_;
  double copy_cost_;
  CellWatcher* watcher_ = nullptr;
  Array<float> shares_;  ///< by node: of all messages, those that visit the cell
  Directory directory_;
  BlockLists<QuadPosting, QuadPosting::KeyOf> postings_;
};

}  // namespace nearcast::iq
