#include <algorithm>
#include <string>

#include "nearcast/base/errors.h"
#include "nearcast/index/papers/ap_tree/routing.h"

namespace nearcast {

using ap::kNoNode;
using ap::Node;
using ap::NodeKind;

/// Descends with the entries that should be below each node and compares them with the tree.
class ApTree::Inspector {
 public:
  explicit Inspector(const ApTree& tree) : tree_(tree) {}

  void inspect(const IsHere& is_here) {
    std::vector<EntryId> entries;
    tree_.store_.for_each([&](SubscriptionId id) {
      if (!is_here(id)) return;
      tree_.store_.for_each_entry(id, [&](EntryId entry) { entries.push_back(entry); });
    });
    std::sort(entries.begin(), entries.end());
    inspect(ap::kRoot, entries);
    require(seen_ + tree_.free_nodes_.size() + 1 == tree_.nodes_.size(), ap::kRoot,
            "nodes are neither in the tree nor free");
  }

 private:
  static void require(bool holds, NodeRef ref, const char* what) {
    if (!holds) broken(std::string("ap-tree: node ").append(std::to_string(ref)) + ": " + what);
  }

  void inspect(NodeRef ref, const std::vector<EntryId>& expected) {
    ++seen_;
    require(seen_ < tree_.nodes_.size(), ref, "is reached more than once");
    const Node& node = tree_.nodes_[ref];
    require(node.weight == expected.size(), ref, "its weight is not the number of its entries");
    switch (node.kind) {
      case NodeKind::kFree:
        return require(false, ref, "is free and in the tree");
      case NodeKind::kLeaf:
        return inspect_leaf(ref, expected);
      case NodeKind::kKeyword:
        inspect_cuts(ref);
        break;
      case NodeKind::kSpatial:
        inspect_grid(ref);
        break;
    }
    inspect_children(ref, expected);
  }

  void inspect_leaf(NodeRef ref, const std::vector<EntryId>& expected) const {
    std::vector<EntryId> found;
    tree_.postings_.check(tree_.nodes_[ref].postings);
    tree_.for_each_posting(tree_.nodes_[ref], [&](const ap::Posting& posting) {
      found.push_back(posting.entry);
      const Rect& bounds = tree_.store_.bounds(tree_.store_.owner(posting.entry));
      require(posting.box.holds(bounds), ref, "a coarse box does not hold its entry");
      require(posting.signature == tree_.posting(posting.entry).signature, ref,
              "a signature is not its entry's");
    });
    require(found == expected, ref, "holds other entries than it should");
  }

  void inspect_cuts(NodeRef ref) const {
    const Node& node = tree_.nodes_[ref];
    const ap::CutsView cuts = tree_.cuts(node);
    require(node.cuts_keywords && node.cuts.count > 0, ref, "should not be cut by keyword");
    for (std::uint32_t i = 0; i < node.cuts.count; ++i) {
      require(cuts.lowers[i] <= cuts.uppers[i], ref, "a cut ends before it begins");
      require(i == 0 || cuts.uppers[i - 1] < cuts.lowers[i], ref, "cuts overlap");
    }
  }

  void inspect_grid(NodeRef ref) const {
    const Node& node = tree_.nodes_[ref];
    const ap::GridView grid = tree_.grid(node);
    require(node.cuts_space && node.grid.columns > 0 && node.grid.rows > 0, ref,
            "should not be cut by space");
    for (const auto& lines : {grid.x, grid.y}) {
      const bool ascend =
          std::adjacent_find(lines.begin(), lines.end(), std::greater_equal<>()) == lines.end();
      require(ascend, ref, "lines of its grid do not ascend");
    }
  }

  void inspect_children(NodeRef ref, const std::vector<EntryId>& expected) {
    const Node& node = tree_.nodes_[ref];
    std::vector<std::vector<EntryId>> shares(node.slots());
    for (const EntryId entry : expected) distribute(ref, entry, shares);
    for (std::uint32_t slot = 0; slot < node.slots(); ++slot) {
      const NodeRef below = tree_.child(node, slot);
      const bool may_be_empty = tree_.options_.keeps_messages;
      require((below == kNoNode) == shares[slot].empty() || (below != kNoNode && may_be_empty), ref,
              "has a child where none should be, or none where one should");
      if (below == kNoNode) continue;
      require(below < tree_.nodes_.size(), ref, "points to a child that does not exist");
      require(tree_.nodes_[below].parent == ref, below, "does not know its parent");
      inspect(below, shares[slot]);
    }
  }

  void distribute(NodeRef ref, EntryId entry, std::vector<std::vector<EntryId>>& shares) const {
    const Node& node = tree_.nodes_[ref];
    std::vector<Position> positions;
    for (const Token token : tree_.store_.clause(entry).positive) {
      positions.push_back(tree_.order_.position(token));
      require(positions.back() != TokenOrder::kUnplaced, ref,
              "holds a keyword that has no position");
    }
    std::sort(positions.begin(), positions.end());
    positions.push_back(TokenOrder::kUnplaced);
    const Position keyword = keyword_at(positions.data(), node.offset);
    const Rect& bounds = tree_.store_.bounds(tree_.store_.owner(entry));
    tree_.for_each_slot(node, bounds, keyword, [&](std::uint32_t slot) {
      const bool in_cut = node.kind == NodeKind::kKeyword && slot != node.dummy();
      if (in_cut) {
        require(
            tree_.cuts(node).lowers[slot] <= keyword && keyword <= tree_.cuts(node).uppers[slot],
            ref, "an entry's keyword is outside its cut");
      }
      shares[slot].push_back(entry);
    });
  }

  const ApTree& tree_;
  std::size_t seen_ = 0;
};

void ApTree::check(const IsHere& is_here) const { Inspector(*this).inspect(is_here); }

}  // namespace nearcast
