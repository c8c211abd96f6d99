#include "nearcast/index/papers/rt_tree/token_levels.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

constexpr std::uint64_t kQuicklyFiled = 1 << 12;  // entries: a few milliseconds' work

}  // namespace

std::uint32_t TokenLevels::top_for(const RTreeNodes& nodes) {
  return nodes.height() < 2 ? 0 : nodes.height() - 2;
}

void TokenLevels::count(EntryId entry, int step) {
  header_.entries += static_cast<std::uint64_t>(step);
  for (const Token token : store_.clause(entry).positive) {
    if (frequencies_.size() <= raw(token)) frequencies_.resize(raw(token) + 1);
    frequencies_[raw(token)] += static_cast<std::uint32_t>(step);
  }
}

void TokenLevels::admit(std::span<const EntryId> entries) {
  sorted_of_ = kNone;  // ids are re-used
  const bool are_first = header_.entries == 0;
  if (are_first) is_new_tree_ = true;
  for (const EntryId entry : entries) count(entry, +1);
  if (are_first && entries.size() > 1) return order_.order_by(frequencies_.view());
  for (const EntryId entry : entries) {
    for (const Token token : store_.clause(entry).positive) order_.position_or_append(token);
  }
}

void TokenLevels::forget(EntryId entry) {
  sorted_of_ = kNone;
  count(entry, -1);
}

void TokenLevels::sort_keys(EntryId entry, std::vector<TokenKey>& keys) const {
  keys.clear();
  for_each_key(store_.clause(entry), [&](TokenKey key) { keys.push_back(key); });
  if (keys.size() == 1) return;
  // Positions of tokens are by falling frequency.
  std::sort(keys.begin(), keys.end(), [&](TokenKey a, TokenKey b) {
    return order_.position(token_of(a)) > order_.position(token_of(b));
  });
}

std::span<const TokenKey> TokenLevels::sorted_keys(EntryId entry) {
  if (sorted_of_ != raw(entry)) sort_keys(entry, sorted_);
  sorted_of_ = raw(entry);
  return sorted_;
}

std::span<const TokenKey> TokenLevels::part_of_level(std::span<const TokenKey> sorted,
                                                     std::uint32_t level) const {
  if (level > top()) return {};
  const std::size_t first = top() - level;
  if (first >= sorted.size()) return {};
  return level == 0 ? sorted.subspan(first) : sorted.subspan(first, 1);
}

void TokenLevels::node_created(const RTreeNodes& nodes, RNodeId node) {
  // The first node of a bulk load: the tree has its final height already.
  if (is_new_tree_) header_.top = top_for(nodes);
  is_new_tree_ = false;
  postings_.add_row(raw(node));
}

void TokenLevels::entry_added(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
  if (nodes.level(node) > top()) return;
  for (const TokenKey key : part_of_level(sorted_keys(entry), nodes.level(node))) {
    postings_.add(raw(node), key, raw(entry));
  }
}

void TokenLevels::entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
  if (nodes.level(node) > top()) return;
  for (const TokenKey key : part_of_level(sorted_keys(entry), nodes.level(node))) {
    postings_.remove(raw(node), key, raw(entry));
  }
}

void TokenLevels::subtree_added(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
  if (nodes.level(node) > top()) return;
  nodes.for_each_entry_below(child,
                             [&](EntryId entry, const Rect&) { entry_added(nodes, node, entry); });
}

void TokenLevels::subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
  if (nodes.level(node) > top()) return;
  nodes.for_each_entry_below(
      child, [&](EntryId entry, const Rect&) { entry_removed(nodes, node, entry); });
}

void TokenLevels::height_changed(const RTreeNodes& nodes) {
  if (nodes.root() == kNoRNode) return;
  const std::uint32_t wanted = top_for(nodes);
  const bool has_lost_lists = nodes.level(nodes.root()) < top();
  const bool has_grown = wanted > top() && header_.entries <= kQuicklyFiled;
  if (has_lost_lists || has_grown) file_anew(nodes);
}

void TokenLevels::file_anew(const RTreeNodes& nodes) {
  ++filings_;
  postings_ = PostingTables{};
  sorted_of_ = kNone;
  header_.top = top_for(nodes);
  order_.order_by(frequencies_.view());
  if (nodes.slots() != 0) postings_.add_row(nodes.slots() - 1);
  file_below(nodes, nodes.root());
}

void TokenLevels::file_below(const RTreeNodes& nodes, RNodeId node) {
  for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot) {
    if (nodes.is_leaf(node)) {
      const EntryId entry = nodes.entry(node, slot);
      for (RNodeId above = node; above != kNoRNode; above = nodes.parent(above)) {
        entry_added(nodes, above, entry);
      }
    } else {
      file_below(nodes, nodes.child(node, slot));
    }
  }
}

std::size_t TokenLevels::memory_bytes() const {
  return order_.memory_bytes() + frequencies_.memory_bytes() + postings_.memory_bytes();
}

void TokenLevels::check_invariants(const RTreeNodes& nodes) const {
  postings_.check_invariants("Rt++-tree");
  if (nodes.root() == kNoRNode) return;
  ensure(top() <= nodes.level(nodes.root()), "Rt++-tree: first tokens lie above the root");
  std::size_t entries = 0, expected = 0;
  std::vector<TokenKey> sorted;
  const auto check_entry = [&](RNodeId leaf, EntryId entry) {
    sort_keys(entry, sorted);
    ++entries;
    expected += sorted.size();
    for (RNodeId node = leaf; node != kNoRNode; node = nodes.parent(node)) {
      for (const TokenKey key : part_of_level(sorted, nodes.level(node))) {
        ensure(postings_.has(raw(node), key, raw(entry)),
               "Rt++-tree: an entry is not in the list of its token");
      }
    }
  };
  const auto check_below = [&](auto&& self, RNodeId node) -> void {
    for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot) {
      if (nodes.is_leaf(node)) {
        check_entry(node, nodes.entry(node, slot));
      } else {
        self(self, nodes.child(node, slot));
      }
    }
  };
  check_below(check_below, nodes.root());
  ensure(entries == header_.entries, "Rt++-tree: the number of entries is wrong");
  ensure(expected == postings_.size(), "Rt++-tree: lists hold what no entry has");
}

}  // namespace nearcast
