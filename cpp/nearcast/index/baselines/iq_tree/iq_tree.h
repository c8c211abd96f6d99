/// IQ-Tree: a quadtree of areas whose cells have inverted lists by least frequent keyword.
/// [AP §3.1 IQ-Tree, §5.1.1 its cost model]
///
/// An entry is attached to one or several cells, as the cost rule says
/// (index/parts/quad_tree/placement.h), and stands there in the list of its least frequent keyword.
/// A message visits the cells it touches, a point those on one path; in each it scans the lists of
/// its words and has box, words and area of what it finds verified.
///
///   paper                          here
///   Quadtree cell                  QuadNodeId (index/parts/quad_tree/quad_forest.h)
///   ranked-key inverted list       OrderedLists
///   historical messages            Workload
///   —                              max_leaf, max_depth: when a cell is divided
///
/// Departs from the paper: the cost rule is rebuilt from its description; a cell is divided only
/// when it holds more than max_leaf entries, because otherwise a rare visit would walk through
/// chains of cells with one entry each; without historical messages, messages are assumed to be
/// like the subscriptions. An entry keeps its keyword when frequencies change, until everything is
/// built anew.
///
/// A sample of messages takes effect at once: learn() places all entries anew.
#pragma once

#include "nearcast/index/baselines/iq_tree/ordered_lists.h"
#include "nearcast/index/match_index.h"
#include "nearcast/index/parameters.h"

namespace nearcast {

class IqTree final : public MatchIndex {
 public:
  IqTree(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters();

  void insert(SubscriptionId id) override { build({&id, 1}); }
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void learn(const MessageSample& sample) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

  // For the IQ+-Tree, which keeps messages in the same cells.
  using Forest = QuadForest<iq::OrderedLists>;
  void watch(CellWatcher& watcher) { forest_.content().watch(watcher); }
  const Forest& forest() const { return forest_; }
  QuadNodeId root() const { return root_; }  ///< none: nothing is here
  Token key_of(EntryId entry) const { return choices_[entry].key; }
  /// Calls visit(node) for each cell that the entry is attached to.
  template <typename Visit>
  void for_each_cell_of(EntryId entry, Visit&& visit) const {
    forest_.for_each_cell_of(root_, item_of(entry), visit);
  }

 private:
  using Item = iq::OrderedLists::Item;

  Item choose(EntryId entry);
  Item item_of(EntryId entry) const {
    return {entry, choices_[entry], store_.bounds(store_.owner(entry))};
  }
  void rebuild();
  void scan_cell(QuadNodeId node, const Message& message, std::uint64_t filter,
                 MatchScratch& scratch, MatchSink& sink) const;

  Workload workload_;
  EntryMap<iq::Choice> choices_;
  Forest forest_;
  QuadNodeId root_ = kNoQuadNode;
};

}  // namespace nearcast
