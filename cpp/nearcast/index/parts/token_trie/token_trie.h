/// A trie on sequences of token positions, in flat memory. The MBRTrie and the Trie-Qd both use it
/// and differ in what they attach to a node (Payload). [LFilter §3.1]
///
/// A node stands for the sequence of positions on the way from the root to it. The user decides
/// whether sequences begin with rare or with frequent tokens. Children are sorted by position, so
/// that either the children can be searched for a message's tokens or the other way round.
///
///   nodes_       per node: parent, position, list of children, payload; side by side, so that
///                visiting a node costs one cache line or two
///   children_    the lists: pairs of position and node, ascending by position
///
/// Freed nodes are re-used. Payloads are plain values, zero in a new node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/errors.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/text/token_order.h"

namespace nearcast {

enum class TrieNodeId : std::uint32_t {};  ///< row of a node; re-used after the node is freed
constexpr TrieNodeId kTrieRoot = TrieNodeId{0};
constexpr TrieNodeId kNoTrieNode = TrieNodeId{0xFFFFFFFFu};

struct TrieChild {
  Position position;
  TrieNodeId node;
};

template <typename Payload>
class TokenTrie {
 public:
  TokenTrie() { clear(); }

  void clear();                                                      ///< only the root is left
  std::size_t slots() const { return nodes_.size(); }                ///< node ids are below this
  std::size_t size() const { return nodes_.size() - free_.size(); }  ///< with the root

  Position position(TrieNodeId node) const {
    return nodes_[raw(node)].position;
  }  ///< not of the root
  TrieNodeId parent(TrieNodeId node) const { return nodes_[raw(node)].parent; }
  const Payload& operator[](TrieNodeId node) const { return nodes_[raw(node)].payload; }
  Payload& operator[](TrieNodeId node) { return nodes_[raw(node)].payload; }
  /// Ascending by position. Valid until a child is added anywhere.
  std::span<const TrieChild> children(TrieNodeId node) const {
    return children_.view(nodes_[raw(node)].children);
  }
  bool has_children(TrieNodeId node) const { return nodes_[raw(node)].children.size != 0; }

  /// Number of the node's children with a smaller position.
  std::uint32_t place_of_child(TrieNodeId node, Position position) const;
  TrieNodeId find_child(TrieNodeId node, Position position) const;  ///< or kNoTrieNode
  TrieNodeId find(std::span<const Position> path) const;     ///< from the root; or kNoTrieNode
  TrieNodeId add_child(TrieNodeId node, Position position);  ///< has no such child yet
  TrieNodeId find_or_add(std::span<const Position> path);

  /// Free a node that has no children; its parent stays, even if nothing else needs it.
  void remove(TrieNodeId node);
  /// Free the node and those above it, as long as they have no children and are not in use.
  template <typename IsUsed>
  void prune(TrieNodeId node, IsUsed&& is_used);

  /// Calls visit(node, depth) for every node: each before its children, these by position. The
  /// root's depth is 0.
  template <typename Visit>
  void for_each(Visit&& visit) const;

  std::size_t memory_bytes() const;
  void check_invariants() const;

 private:
  struct Node {
    Position position;
    TrieNodeId parent;
    ListHandle children;
    Payload payload;
  };

  Array<Node> nodes_;
  ListArena<TrieChild> children_;
  Array<TrieNodeId> free_;
};

}  // namespace nearcast

#include "nearcast/index/parts/token_trie/token_trie_change.h"
