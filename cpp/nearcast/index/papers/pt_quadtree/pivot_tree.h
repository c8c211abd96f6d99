/// The PT-Quadtree itself, for all indexes that filter with it. [LFilter §4]
///
/// pivot_cells.h is the content of its cells; here are updates and the filter step [LFilter §4.2].
///
/// The paper tests at every node whether the message meets the cover set, then whether it meets the
/// rest, each time by the cheaper of two ways to intersect. Here the tokens of the message are
/// looked up among the marks of the root; only those found go on, each to the children that its
/// mark names. So there is one way to intersect, and it looks for few tokens. A covered token goes
/// to all children without being looked up again.
///
/// Cells divide the world, not the smallest region that holds all subscriptions: the outermost
/// levels of a smaller region cost a few visits, and nothing has to be moved when it grows.
#pragma once

#include "nearcast/index/match_index.h"
#include "nearcast/index/papers/pt_quadtree/pivot_cells.h"
#include "nearcast/index/parameters.h"

namespace nearcast {

///   paper     here             meaning
///   τ_num     max_leaf_size    a cell with more entries is divided
///   τ_area    min_area         unless its area is less, in square degrees
struct PivotTreeOptions {
  std::uint32_t max_leaf_size = 64;
  double min_area = 1e-5;
  std::uint64_t max_copies = 4;
  PivotRule rule = PivotRule::kFrequent;
  bool has_covers = false;
};

std::vector<ParameterSpec> pivot_tree_parameters();
PivotTreeOptions pivot_tree_options(const Parameters& parameters);

class PivotTree {
 public:
  PivotTree(const SubscriptionStore& store, const Labels& labels, const PivotTreeOptions& options);

  std::size_t size() const { return size_; }
  void insert(EntryId entry);
  void erase(EntryId entry);
  void rebuild();  ///< from everything in the store
  /// These entries have other labels now, and labels() knows them; the order of all is the same.
  void relabel(std::span<const Relabel> ascending);

  /// Calls visit(items) for each list whose pivot the message has, in each cell that it touches.
  /// [LFilter §4.2, Alg. 2 PT-Quadtree-Filter]
  template <typename Visit>
  void filter(const Message& message, MatchScratch& scratch, WorkCounters& work,
              Visit&& visit) const;

  /// How many undivided cells does the place touch, judged by the cells of one level?
  /// [LFilter §5.3 cand_Q]
  double estimate_leaves(const Place& place, std::uint32_t level) const;
  double average_marks() const;  ///< of a divided cell
  std::uint32_t height() const;  ///< levels of an even tree with as many leaves

  std::size_t memory_bytes() const { return forest_.memory_bytes() + cells().memory_bytes(); }
  void check_invariants() const;

 private:
  /// A token during a descent, and the children it leads to.
  using Lead = std::uint64_t;  ///< key << 8, kCovered, one bit per child
  static constexpr Lead kCovered = PivotCells::kCover;

  const PivotCells& cells() const { return forest_.content(); }
  PivotCells& cells() { return forest_.content(); }

  template <typename Visit>
  void filter_below(QuadNodeId node, const QuadCell& cell, const QuadPlace& place, Lead bit,
                    std::size_t begin, std::size_t end, std::vector<Lead>& leads,
                    WorkCounters& work, Visit& visit) const;
  void relabel(const Relabel& move);
  double estimate_below(QuadNodeId node, const QuadCell& cell, const QuadPlace& place,
                        std::uint32_t level) const;

  const SubscriptionStore& store_;
  QuadForest<PivotCells> forest_;
  QuadNodeId root_;
  std::size_t size_ = 0;
};

template <typename Visit>
void PivotTree::filter(const Message& message, MatchScratch& scratch, WorkCounters& work,
                       Visit&& visit) const {
  std::vector<Lead>& leads = scratch.queue;
  leads.clear();
  leads.push_back(PivotCells::kAllChildren);  // entries that need no token
  for (const Token token : message.tokens) {
    leads.push_back(Lead{pivot_key(token)} << 8 | PivotCells::kAllChildren);
  }
  filter_below(root_, kWorldCell, QuadPlace(message.place), 1, 0, leads.size(), leads, work, visit);
  leads.clear();
}

template <typename Visit>
void PivotTree::filter_below(QuadNodeId node, const QuadCell& cell, const QuadPlace& place,
                             Lead bit, std::size_t begin, std::size_t end, std::vector<Lead>& leads,
                             WorkCounters& work, Visit& visit) const {
  ++work.nodes_visited;
  const bool is_divided = forest_.nodes()[node].is_divided;
  Lead anywhere = 0;
  std::size_t from = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Lead lead = leads[i];
    if (!(lead & bit)) continue;
    const auto key = static_cast<PivotKey>(lead >> 8);
    bool may_have = true;
    Lead further = lead;
    if (is_divided && !(lead & kCovered)) {
      const PivotCells::Mark* mark = cells().find_mark(node, key, from);
      if (mark == nullptr) continue;
      may_have = (*mark & PivotCells::kOwn) != 0;
      further = Lead{key} << 8 | (*mark & (PivotCells::kCover | PivotCells::kAllChildren));
    }
    if (may_have) cells().for_each_with(node, key, visit);
    if (!is_divided || !(further & PivotCells::kAllChildren)) continue;
    leads.push_back(further | (further & kCovered ? Lead{PivotCells::kAllChildren} : 0));
    anywhere |= leads.back();
  }
  const std::size_t next_end = leads.size();
  for (Quadrant quadrant = 0; quadrant < 4 && next_end > end; ++quadrant) {
    const QuadNodeId child = forest_.nodes()[node].children[quadrant];
    if (child == kNoQuadNode || !(anywhere >> quadrant & 1)) continue;
    const QuadPlace inside = place.in_child(cell, quadrant);
    if (inside.parts == 0) continue;
    filter_below(child, cell.child(quadrant), inside, Lead{1} << quadrant, end, next_end, leads,
                 work, visit);
  }
  leads.resize(end);
}

}  // namespace nearcast
