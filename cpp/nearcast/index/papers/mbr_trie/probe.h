/// Which children of a node have a token of the message? Included by ordered_trie.h only.
/// [LFilter §3.3]
#pragma once

#include <algorithm>
#include <bit>

#include "nearcast/index/papers/mbr_trie/ordered_trie.h"

namespace nearcast {

/// Are tokens looked up among the children, or children among the tokens? |T_n|·log|n| against
/// |n|·log|T_n|.
inline bool tokens_probe(std::size_t tokens, std::size_t children, Probe probe) {
  if (probe != Probe::kCost) return probe == Probe::kTrie;
  return tokens * static_cast<std::size_t>(std::bit_width(children)) <
         children * static_cast<std::size_t>(std::bit_width(tokens));
}

template <typename Visit>
void OrderedTrie::for_each_child_in(TrieNodeId node, PositionSpan positions, Probe probe,
                                    Visit&& visit) const {
  const std::span<const TrieChild> children = trie_.children(node);
  if (children.empty() || positions.empty()) return;
  // Both ascend, so each search starts where the last one ended.
  if (tokens_probe(positions.size(), children.size(), probe)) {
    auto from = children.begin();
    for (std::size_t i = 0; i < positions.size(); ++i) {
      from = std::lower_bound(from, children.end(), positions[i],
                              [](const TrieChild& c, Position r) { return c.position < r; });
      if (from == children.end()) return;
      if (from->position == positions[i]) visit(from->node, rest(positions, i));
    }
  } else {
    auto from = positions.begin();
    for (const TrieChild& child : children) {
      from = std::lower_bound(from, positions.end(), child.position);
      if (from == positions.end()) return;
      if (*from == child.position) {
        visit(child.node, rest(positions, static_cast<std::size_t>(from - positions.begin())));
      }
    }
  }
}

template <typename Visit>
void OrderedTrie::for_each_own(TrieNodeId node, const Place& place, WorkCounters& work,
                               Visit&& visit) const {
  std::uint32_t left = trie_[node].own;
  work.candidates += left;
  for (Number number = trie_[node].first; left != 0; ++number) {
    if (!line_.is_live(number)) continue;
    if (touches(line_.box(number), place)) visit(line_.entry(number));
    --left;
  }
}

template <typename Visit>
void OrderedTrie::search(PositionSpan positions, const Place& place, Probe probe,
                         WorkCounters& work, std::vector<std::uint64_t>& steps,
                         Visit&& visit) const {
  for_each_own(kTrieRoot, place, work, visit);
  // A step is a node to go on from, and how many positions are left for it: the first or the last.
  steps.assign(1, std::uint64_t{raw(kTrieRoot)} << 32 | positions.size());
  while (!steps.empty()) {
    const std::uint64_t step = steps.back();
    steps.pop_back();
    const TrieNodeId node{static_cast<std::uint32_t>(step >> 32)};
    const std::size_t count = step & 0xFFFFFFFFu;
    const PositionSpan left = options_.rare_first ? positions.first(count) : positions.last(count);
    for_each_child_in(node, left, probe, [&](TrieNodeId child, PositionSpan following) {
      ++work.nodes_visited;
      const Branch& branch = trie_[child];
      if (!touches(branch.box, place)) return;
      if (branch.own != 0) for_each_own(child, place, work, visit);
      steps.push_back(std::uint64_t{raw(child)} << 32 | following.size());
    });
  }
}

}  // namespace nearcast
