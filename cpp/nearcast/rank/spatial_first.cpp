#include "nearcast/rank/spatial_first.h"

#include "nearcast/rank/verifier.h"

namespace nearcast {

void SpatialFirstRank::rank(const Message& message, RankScratch& scratch, RankSink& sink) const {
  if (tree_.size() == 0) return;
  const RTreeNodes& nodes = tree_.nodes();
  const NodeBounds& bounds = tree_.summary();
  RankVerifier verifier(store_, message, scratch, sink);
  constexpr double kPerfectText = 1;
  const auto visit = [&](auto&& self, RNodeId node) -> void {
    ++sink.work.nodes_visited;
    const std::span<const Rect> boxes = nodes.boxes(node);
    if (nodes.is_leaf(node)) sink.work.candidates += boxes.size();
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      if (nodes.is_leaf(node)) {
        const double most = touches(boxes[slot], message.place) ? 1 : 0;
        if (bounds[node].excludes(most, kPerfectText)) continue;
        verifier.propose_once(id_of(nodes.entry(node, slot)));
      } else {
        const RNodeId child = nodes.child(node, slot);
        const double most = bounds[child].spatial(boxes[slot], message.place);
        if (!bounds[child].excludes(most, kPerfectText)) self(self, child);
      }
    }
  };
  visit(visit, nodes.root());
  verifier.finish();
}

}  // namespace nearcast
