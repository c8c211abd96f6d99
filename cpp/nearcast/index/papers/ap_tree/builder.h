/// How a tree or a part of it is made. [AP §3.3.4]
#pragma once

#include <utility>

#include "nearcast/index/papers/ap_tree/ap_tree.h"

namespace nearcast {

/// Divides entries top-down [AP Alg. 4]. Entries and sample messages are on two stacks: a node
/// pushes a copy of each child's share, builds the child, and pops the copy again.
class ApTree::Builder {
 public:
  Builder(ApTree& tree, Evidence evidence)
      : tree_(tree),
        sample_(*evidence.sample),
        kept_per_visit_(evidence.kept_per_visit),
        visits_(std::move(evidence.visits)) {}

  /// The node is an empty leaf.
  void grow(const Site& site, std::span<const EntryId> entries) {
    items_.reserve(entries.size() * 2);
    for (const EntryId entry : entries) items_.push_back(tree_.read_item(entry, positions_));
    grow(site, Range{0, items_.size()}, Range{0, visits_.size()}, copies_above(site.node));
  }

 private:
  struct Range {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
  };
  struct KeywordChoice {
    ap::KeywordPlan plan;
    std::size_t offset;
  };
  static constexpr unsigned kMaxDepth = 64;
  // Limits of the average number of copies of an entry: through one grid, and through all grids on
  // its path. The paper's cost counts only the time of matching and would spend any amount of
  // memory on it.
  static constexpr double kMaxCopies = 4, kMaxAllCopies = 8;

  void grow(const Site& site, Range items, Range visits, double copies);
  void write_leaf(NodeRef node, Range items);
  double copies_above(NodeRef node) const;
  double copies_through(const ap::Node& node) const;
  bool partition(const Site& site, Range items, Range visits, double copies);
  bool pays(const ap::KeywordPlan& plan, Range items, Range visits) const;
  KeywordChoice plan_keywords(const ap::Node& node, Range items, Range visits) const;
  ap::GridPlan plan_space(const Site& site, Range items, Range visits, double max_copies) const;
  std::vector<ap::KeywordUse> count_keywords(Range items, std::size_t offset) const;
  void estimate(std::vector<ap::KeywordUse>& uses, Range visits) const;
  std::vector<Range> scatter_items(NodeRef node, Range items);
  std::vector<Range> scatter_visits(NodeRef node, Range visits);
  template <typename T, typename ForEach>
  static std::vector<Range> scatter(std::vector<T>& stack, Range from, std::size_t slots,
                                    ForEach&& for_each);

  double kept(Range visits) const { return kept_per_visit_ * static_cast<double>(visits.size()); }

  ApTree& tree_;
  const ap::Sample& sample_;
  double kept_per_visit_;
  std::vector<ap::Visit> visits_;
  std::vector<ap::Item> items_;
  std::vector<Position> positions_;
};

}  // namespace nearcast
