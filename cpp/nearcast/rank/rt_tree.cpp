#include "nearcast/rank/rt_tree.h"

#include "nearcast/index/papers/rt_tree/token_filter.h"
#include "nearcast/rank/verifier.h"

namespace nearcast {

void RtTreeRank::rank(const Message& message, RankScratch& scratch, RankSink& sink) const {
  if (tree_.size() == 0) return;
  const RTreeNodes& nodes = tree_.nodes();
  const NodeBounds& bounds = tree_.summary().second;
  TokenFilter filter(nodes, tree_.summary().first.tables(), message.tokens, scratch.near_keys);
  RankVerifier verifier(store_, message, scratch, sink);

  const auto common_weight = [&](RNodeId node) {
    double weight = 0;
    filter.for_each_common(node, [&](TokenKey key) { weight += store_.weights()[token_of(key)]; });
    return weight;
  };
  const auto look_at_entries = [&](RNodeId leaf, double textual) {
    const std::span<const Rect> boxes = nodes.boxes(leaf);
    sink.work.candidates += boxes.size();
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      const double most = touches(boxes[slot], message.place) ? 1 : 0;
      if (bounds[leaf].excludes(most, textual)) continue;
      verifier.propose_once(id_of(nodes.entry(leaf, slot)));
    }
  };
  const auto visit = [&](auto&& self, RNodeId node, double textual) -> void {
    ++sink.work.nodes_visited;
    if (nodes.is_leaf(node)) return look_at_entries(node, textual);
    const std::span<const Rect> boxes = nodes.boxes(node);
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      const RNodeId child = nodes.child(node, slot);
      const double most = bounds[child].spatial(boxes[slot], message.place);
      if (bounds[child].excludes(most, 1)) continue;  // without looking tokens up
      const double of_child = bounds[child].textual(common_weight(child));
      if (!bounds[child].excludes(most, of_child)) self(self, child, of_child);
    }
  };
  visit(visit, nodes.root(), 1);
  verifier.finish();
}

}  // namespace nearcast
