/// Does a node share a token with the message? Called during a descent, for a parent before its
/// children. [Rt §3.2 token filter]
///
/// Departs from the paper, which looks up all of the message's tokens at every node: a token that a
/// node does not have is not below it either. So each level keeps the keys that are left, and only
/// those are looked up below. Most look-ups are in leaves, where one hit is enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nearcast/index/papers/rt_tree/token_tables.h"
#include "nearcast/index/parts/r_tree/nodes.h"

namespace nearcast {

class TokenFilter {
 public:
  /// `buffer` keeps its memory between messages.
  TokenFilter(const RTreeNodes& nodes, const TokenTables& tables, TokenSpan message,
              std::vector<std::uint32_t>& buffer)
      : nodes_(nodes), tables_(tables), buffer_(buffer) {
    // Level after level from the root down, each: number of keys left, then the keys. At the root,
    // which is not tested, all are left.
    buffer_.clear();
    buffer_.push_back(0);
    append_message_keys(message, buffer_);
    stride_ = buffer_.size();
    buffer_[0] = static_cast<std::uint32_t>(stride_ - 1);
    buffer_.resize(stride_ * std::max(1u, nodes_.height()));
  }

  /// `node` is a child of the root, or of the node that was tested last on the level above.
  bool passes(RNodeId node) {
    if (nodes_.is_leaf(node)) return shares_any(node);
    bool has_some = false;
    for_each_common(node, [&](TokenKey) { has_some = true; });
    return has_some;
  }

  /// Calls visit(key) for each key that the node shares with the message. To be called in the same
  /// order as passes().
  template <typename Visit>
  void for_each_common(RNodeId node, Visit&& visit) {
    const std::uint32_t depth = nodes_.depth(node);
    const std::uint32_t* above = &buffer_[stride_ * (depth - 1)];
    std::uint32_t* left = &buffer_[stride_ * depth];
    std::uint32_t count = 0;
    for (std::uint32_t i = 1; i <= above[0]; ++i) {
      if (tables_.find(raw(node), TokenKey{above[i]}) == nullptr) continue;
      left[++count] = above[i];
      visit(TokenKey{above[i]});
    }
    left[0] = count;
  }

 private:
  bool shares_any(RNodeId leaf) const {
    const std::uint32_t* above = &buffer_[stride_ * (nodes_.depth(leaf) - 1)];
    for (std::uint32_t i = 1; i <= above[0]; ++i) {
      if (tables_.find(raw(leaf), TokenKey{above[i]}) != nullptr) return true;
    }
    return false;
  }

  const RTreeNodes& nodes_;
  const TokenTables& tables_;
  std::vector<std::uint32_t>& buffer_;
  std::size_t stride_ = 0;
};

}  // namespace nearcast
