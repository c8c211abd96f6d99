/// Bodies of TokenTrie; included by token_trie.h only.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "nearcast/index/parts/token_trie/token_trie.h"

namespace nearcast {

template <typename Payload>
void TokenTrie<Payload>::clear() {
  nodes_ = {};
  children_ = {};
  free_ = {};
  nodes_.resize(1);
  nodes_[0].position = TokenOrder::kUnplaced;
  nodes_[0].parent = kNoTrieNode;
}

template <typename Payload>
std::uint32_t TokenTrie<Payload>::place_of_child(TrieNodeId node, Position position) const {
  const auto list = children(node);
  const auto found =
      std::lower_bound(list.begin(), list.end(), position,
                       [](const TrieChild& c, Position r) { return c.position < r; });
  return static_cast<std::uint32_t>(found - list.begin());
}

template <typename Payload>
TrieNodeId TokenTrie<Payload>::find_child(TrieNodeId node, Position position) const {
  const auto list = children(node);
  const std::uint32_t at = place_of_child(node, position);
  return at < list.size() && list[at].position == position ? list[at].node : kNoTrieNode;
}

template <typename Payload>
TrieNodeId TokenTrie<Payload>::find(std::span<const Position> path) const {
  TrieNodeId node = kTrieRoot;
  for (std::size_t i = 0; i < path.size() && node != kNoTrieNode; ++i) {
    node = find_child(node, path[i]);
  }
  return node;
}

template <typename Payload>
TrieNodeId TokenTrie<Payload>::add_child(TrieNodeId node, Position position) {
  TrieNodeId child{static_cast<std::uint32_t>(nodes_.size())};
  if (free_.empty()) {
    nodes_.resize(nodes_.size() + 1);
  } else {
    child = free_.back();
    free_.pop_back();
  }
  nodes_[raw(child)] = Node{};
  nodes_[raw(child)].position = position;
  nodes_[raw(child)].parent = node;

  const std::uint32_t at = place_of_child(node, position);
  children_.push_back(nodes_[raw(node)].children, {position, child});
  const auto list = children_.view(nodes_[raw(node)].children);
  std::copy_backward(list.begin() + at, list.end() - 1, list.end());
  list[at] = {position, child};
  return child;
}

template <typename Payload>
TrieNodeId TokenTrie<Payload>::find_or_add(std::span<const Position> path) {
  TrieNodeId node = kTrieRoot;
  for (const Position position : path) {
    const TrieNodeId child = find_child(node, position);
    node = child != kNoTrieNode ? child : add_child(node, position);
  }
  return node;
}

template <typename Payload>
void TokenTrie<Payload>::remove(TrieNodeId node) {
  const TrieNodeId above = parent(node);
  ListHandle& handle = nodes_[raw(above)].children;
  const auto list = children_.view(handle);
  const std::uint32_t at = place_of_child(above, position(node));
  std::copy(list.begin() + at + 1, list.end(), list.begin() + at);
  children_.resize(handle, handle.size - 1);
  nodes_[raw(node)] = Node{};
  nodes_[raw(node)].parent = node;  // what a node in use never is: marks the row as free
  free_.push_back(node);
}

template <typename Payload>
template <typename IsUsed>
void TokenTrie<Payload>::prune(TrieNodeId node, IsUsed&& is_used) {
  while (node != kTrieRoot && !has_children(node) && !is_used(node)) {
    const TrieNodeId above = parent(node);
    remove(node);
    node = above;
  }
}

template <typename Payload>
template <typename Visit>
void TokenTrie<Payload>::for_each(Visit&& visit) const {
  // Without recursion: a path may have thousands of nodes.
  std::vector<std::pair<TrieNodeId, std::uint32_t>> left{{kTrieRoot, 0}};
  while (!left.empty()) {
    const auto [node, depth] = left.back();
    left.pop_back();
    visit(node, depth);
    const std::span<const TrieChild> below = children(node);
    for (auto child = below.rbegin(); child != below.rend(); ++child) {
      left.emplace_back(child->node, depth + 1);
    }
  }
}

template <typename Payload>
std::size_t TokenTrie<Payload>::memory_bytes() const {
  return nodes_.memory_bytes() + children_.memory_bytes() + free_.memory_bytes();
}

template <typename Payload>
void TokenTrie<Payload>::check_invariants() const {
  ensure(!nodes_.empty() && parent(kTrieRoot) == kNoTrieNode, "token trie: the root is not a root");
  std::size_t seen = 0;
  for_each([&](TrieNodeId node, std::uint32_t) {
    ensure(++seen <= slots(), "token trie: nodes go round in a circle");
    Position least = 0;
    for (const TrieChild& child : children(node)) {
      ensure(raw(child.node) < slots(), "token trie: a child is not a node");
      ensure(child.position >= least, "token trie: children are not sorted by position");
      ensure(position(child.node) == child.position,
             "token trie: a child has another position than its list");
      ensure(parent(child.node) == node, "token trie: a child names another parent");
      least = child.position + 1;
    }
  });
  for (const TrieNodeId node : free_) {
    ensure(parent(node) == node, "token trie: a node in use is listed as free");
  }
  ensure(seen == size(), "token trie: a node is neither in use nor free");
}

}  // namespace nearcast
