#include "nearcast/index/parts/quad_tree/quad_nodes.h"

#include "nearcast/base/errors.h"

namespace nearcast {

QuadNodeId QuadNodes::create(QuadNodeId parent) {
  if (nodes_.empty()) nodes_.resize(1);
  QuadNodeId node;
  if (free_.empty()) {
    node = QuadNodeId{static_cast<std::uint32_t>(nodes_.size())};
    ensure(nodes_.size() < 0xFFFFFFFFull, "quadtree: too many nodes");
    nodes_.resize(nodes_.size() + 1);
  } else {
    node = free_.back();
    free_.pop_back();
  }
  Node made{};
  made.parent = parent;
  made.is_used = true;
  if (parent != kNoQuadNode) made.depth = static_cast<std::uint16_t>((*this)[parent].depth + 1);
  (*this)[node] = made;
  return node;
}

void QuadNodes::free(QuadNodeId node) {
  (*this)[node] = Node{};
  free_.push_back(node);
}

std::size_t QuadNodes::check(QuadNodeId root) const {
  ensure(root != kNoQuadNode && raw(root) < nodes_.size(), "quadtree: a node id is out of range");
  const Node& node = (*this)[root];
  ensure(node.is_used, "quadtree: a freed node is still in use");
  std::size_t nodes = 1;
  std::uint64_t below = 0;
  for (const QuadNodeId child : node.children) {
    if (child == kNoQuadNode) continue;
    ensure(node.is_divided, "quadtree: an undivided node has children");
    nodes += check(child);
    ensure((*this)[child].parent == root, "quadtree: a child has another parent");
    ensure((*this)[child].depth == node.depth + 1, "quadtree: a child's depth is wrong");
    ensure(total(child) != 0, "quadtree: an empty cell was not freed");
    below += total(child);
  }
  ensure(below == node.below, "quadtree: a node counts wrongly what is below it");
  return nodes;
}

}  // namespace nearcast
