#include "nearcast/rank/ir_tree.h"

#include <algorithm>

#include "nearcast/rank/verifier.h"

namespace nearcast {
namespace {

/// The search for one message.
class ChildSearch {
 public:
  ChildSearch(const RankStore& store, const RTreeNodes& nodes, const PostingTables& postings,
              const NodeBounds& bounds, const Message& message, RankScratch& scratch,
              RankSink& sink)
      : store_(store),
        nodes_(nodes),
        postings_(postings),
        bounds_(bounds),
        message_(message),
        scratch_(scratch),
        sink_(sink),
        verifier_(store, message, scratch, sink) {
    scratch_.found.clear();
  }

  void visit(RNodeId node) {
    ++sink_.work.nodes_visited;
    if (nodes_.is_leaf(node)) sink_.work.candidates += nodes_.count(node);
    const std::size_t first = scratch_.found.size();
    find_items(node, first);
    for (std::uint32_t slot = 0; slot < nodes_.count(node); ++slot) {
      const double common = common_weight(first, nodes_.item(node, slot));
      if (nodes_.is_leaf(node)) {
        decide(node, slot, common);
      } else {
        descend(node, slot, common);
      }
    }
    scratch_.found.resize(first);
  }

  void finish() { verifier_.finish(); }

 private:
  /// Appends what the message's tokens lead to at this node, with the tokens' weights, sorted. What
  /// the nodes above still need is before it.
  void find_items(RNodeId node, std::size_t first) {
    auto& found = scratch_.found;
    for (const Token token : message_.tokens) {
      const double weight = store_.weights()[token];
      postings_.for_each_block(raw(node), key_of(token), [&](std::span<const std::uint32_t> items) {
        for (const std::uint32_t item : items) found.emplace_back(item, weight);
      });
    }
    std::sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end());
  }

  double common_weight(std::size_t first, std::uint32_t item) const {
    const auto& found = scratch_.found;
    auto at = std::lower_bound(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
                               std::pair(item, 0.0));
    double weight = 0;
    for (; at != found.end() && at->first == item; ++at) weight += at->second;
    return weight;
  }

  void descend(RNodeId node, std::uint32_t slot, double common) {
    const RNodeId child = nodes_.child(node, slot);
    const RankBounds& bound = bounds_[child];
    const double most = bound.spatial(nodes_.boxes(node)[slot], message_.place);
    if (!bound.excludes(most, bound.textual(common))) visit(child);
  }

  void decide(RNodeId leaf, std::uint32_t slot, double common) {
    const double most = touches(nodes_.boxes(leaf)[slot], message_.place) ? 1 : 0;
    if (bounds_[leaf].excludes(most, bounds_[leaf].textual(common))) return;
    verifier_.propose_once(SubscriptionId{raw(nodes_.entry(leaf, slot))});
  }

  const RankStore& store_;
  const RTreeNodes& nodes_;
  const PostingTables& postings_;
  const NodeBounds& bounds_;
  const Message& message_;
  RankScratch& scratch_;
  RankSink& sink_;
  RankVerifier verifier_;
};

}  // namespace

void IrTreeRank::rank(const Message& message, RankScratch& scratch, RankSink& sink) const {
  if (tree_.size() == 0) return;
  const auto& summary = tree_.summary();
  ChildSearch search(store_, tree_.nodes(), summary.first.postings(), summary.second, message,
                     scratch, sink);
  search.visit(tree_.nodes().root());
  search.finish();
}

}  // namespace nearcast
