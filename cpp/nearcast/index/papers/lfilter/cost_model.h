/// Which of LFilter's two structures should a message use? The cost models of [LFilter §3.3, §4.2,
/// §5.3], rebuilt: the equations of the paper are not available, but its text says what they count.
///
///   paper      here               meaning
///   N, T_n     tokens             tokens of the message, or those that can still follow a node
///   D          vocabulary         distinct tokens of all subscriptions
///   L_i        level_sizes        nodes on the levels of the trie
///   F_i        L_i+1 / L_i        average number of children
///   H_q        height             levels of the quadtree
///   cand_Q     leaves             undivided cells that the message touches
///   Avg_RT     marks              average number of tokens in a divided cell
///   S_avg      average_tokens     tokens of a subscription
///
/// All are numbers of steps; a step of one structure takes another time than a step of the other.
/// How they relate is measured (costs.h), not guessed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace nearcast {

inline double log_steps(double items) { return std::log2(items + 1); }

/// Steps to intersect two sorted sets by looking up the elements of one in the other, whichever is
/// cheaper.
inline double probe_steps(double some, double others) {
  return std::min(some * log_steps(others), others * log_steps(some));
}

struct TrieShape {
  std::span<const std::uint32_t> level_sizes;
  double vocabulary;

  double nodes_on(std::size_t level) const {
    return level < level_sizes.size() ? level_sizes[level] : 0;
  }
  double children_on(std::size_t level) const {
    return nodes_on(level + 1) / std::max(1.0, nodes_on(level));
  }
};

/// Steps to find the children of a node, and their children, that have tokens of the message.
/// Deeper levels are left out: hardly any of their nodes is reached. [LFilter §3.3 cost-based
/// method, §5.3 C_F]
inline double descent_steps(const TrieShape& trie, std::size_t level, double children,
                            double tokens) {
  const double found = children * tokens / std::max(1.0, trie.vocabulary);
  return probe_steps(children, tokens) + found * probe_steps(trie.children_on(level + 1), tokens);
}

/// Cost_F_T: the filter step of the MBRTrie. [LFilter §3.3, Eq. 1]
inline double trie_filter_steps(const TrieShape& trie, double tokens) {
  return descent_steps(trie, 0, trie.nodes_on(1), tokens);
}

/// Cost_F_Q: the filter step of the PT-Quadtree. [LFilter §4.2, Eq. 3]
inline double quadtree_filter_steps(double height, double leaves, double marks, double tokens) {
  return height * leaves * probe_steps(marks, tokens);
}

/// C_V: to verify a list directly, tokens and area. [LFilter §5.3]
inline double verify_steps(double items, double average_tokens, double tokens) {
  return items * std::max(1.0, average_tokens * log_steps(tokens));
}

}  // namespace nearcast
