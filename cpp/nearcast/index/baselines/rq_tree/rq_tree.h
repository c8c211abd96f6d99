/// RQ-Tree: lists by least frequent keyword, and in each long list a quadtree of areas.
/// [AP §5.1.1 RQ-Tree]
///
/// Like the IQ-Tree, but keywords come first. An entry is in the list of its least frequent
/// keyword; a list of more than max_leaf entries is a quadtree in which the entry is attached to
/// one or several cells, as the cost rule says (index/parts/quad_tree/placement.h). A message looks
/// into the lists of its words, and there into the cells it touches.
///
///   paper                          here
///   ranked-key inverted list       lists_
///   Quadtree of a posting list     AreaLists (index/parts/quad_tree/area_lists.h)
///   historical messages            Workload
///
/// Departs from the paper: short lists are not divided at all. The cost rule is rebuilt from its
/// description; without historical messages, messages are assumed to be like the subscriptions. An
/// entry keeps its keyword when frequencies change, until everything is built anew.
///
/// A sample of messages takes effect at once: learn() places all entries anew.
#pragma once

#include "nearcast/index/match_index.h"
#include "nearcast/index/parameters.h"
#include "nearcast/index/parts/quad_tree/area_lists.h"
#include "nearcast/model/entry_map.h"

namespace nearcast {

class RqTree final : public MatchIndex {
 public:
  RqTree(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters();

  void insert(SubscriptionId id) override { build({&id, 1}); }
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void learn(const MessageSample& sample) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

  // For the RQ+-Tree, which keeps messages in the same lists and cells.
  using Forest = QuadForest<CellLists>;
  void watch(CellWatcher& watcher) { areas_.watch(watcher); }
  const Forest& forest() const { return areas_.forest(); }
  /// The quadtree of a keyword's list; none: the list is short, or there is none.
  QuadNodeId root_of(Token key) const {
    return row(key) < lists_.size() ? lists_[row(key)].root : kNoQuadNode;
  }
  /// Calls visit(key, root) for each list that is a quadtree.
  template <typename Visit>
  void for_each_root(Visit&& visit) const {
    for (std::uint32_t i = 0; i < lists_.size(); ++i) {
      if (lists_[i].root != kNoQuadNode) visit(Token{i - 1}, lists_[i].root);
    }
  }
  Token placing() const { return placing_; }  ///< the keyword whose list is being changed
  Token key_of(EntryId entry) const { return keys_[entry]; }
  /// Calls visit(node) for each cell of its list's tree that the entry is attached to.
  template <typename Visit>
  void for_each_cell_of(EntryId entry, Visit&& visit) const {
    forest().for_each_cell_of(root_of(keys_[entry]), item_of(entry), visit);
  }

 private:
  using Item = AreaLists::Item;

  /// Row of a keyword's list; the first is for clauses without one.
  static std::size_t row(Token key) { return key == kUnknownToken ? 0 : raw(key) + std::size_t{1}; }
  Item item_of(EntryId entry) const { return {entry, store_.bounds(store_.owner(entry))}; }
  Token choose(EntryId entry);
  void rebuild();

  Workload workload_;
  Token placing_ = kUnknownToken;
  EntryMap<Token> keys_;  ///< under which keyword an entry stands
  Array<AreaList> lists_;
  AreaLists areas_;
};

}  // namespace nearcast
