/// Builds the trie from all entries at once: order the tokens, sort the token sets, lay them out.
#include <algorithm>

#include "nearcast/index/papers/mbr_trie/ordered_trie.h"

namespace nearcast {
namespace {

/// Token sets to be sorted. The first two positions almost always decide, so that the others are
/// rarely read.
struct SortedPath {
  std::uint64_t head;  ///< first position + 1, second position + 1; 0 where there is none
  std::uint32_t start, length;
  EntryId entry;
};

std::uint64_t head_of(PositionSpan path) {
  const std::uint64_t first = path.empty() ? 0 : path[0] + std::uint64_t{1};
  const std::uint64_t second = path.size() < 2 ? 0 : path[1] + std::uint64_t{1};
  return first << 32 | second;
}

}  // namespace

void OrderedTrie::rebuild() {
  std::vector<std::uint32_t> counts;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      for (const Token token : store_.clause(entry).positive) {
        if (counts.size() <= raw(token)) counts.resize(raw(token) + 1);
        ++counts[raw(token)];
      }
    });
  });
  order_.order_by(counts);
  lay_out(sorted_entries());
}

std::vector<EntryId> OrderedTrie::sorted_entries() const {
  std::vector<Position> positions;
  std::vector<SortedPath> paths;
  paths.reserve(store_.size());
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      const std::size_t start = positions.size();
      append_path(entry, positions);
      const PositionSpan path = PositionSpan(positions).subspan(start);
      paths.push_back({head_of(path), static_cast<std::uint32_t>(start),
                       static_cast<std::uint32_t>(path.size()), entry});
    });
  });
  std::sort(paths.begin(), paths.end(), [&](const SortedPath& a, const SortedPath& b) {
    if (a.head != b.head) return a.head < b.head;
    // Not &positions[start]: the path of a clause without keywords may begin where the array ends.
    const PositionSpan one = PositionSpan(positions).subspan(a.start, a.length);
    return std::ranges::lexicographical_compare(one,
                                                PositionSpan(positions).subspan(b.start, b.length));
  });
  std::vector<EntryId> entries(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) entries[i] = paths[i].entry;
  return entries;
}

std::vector<EntryId> OrderedTrie::entries_in_order() const {
  std::vector<EntryId> entries;
  entries.reserve(line_.live());
  for (Number number = 0; number < line_.size(); ++number) {
    if (line_.is_live(number)) entries.push_back(line_.entry(number));
  }
  return entries;
}

/// Too many entries are marked: make the trie anew from the others, in the order they have.
void OrderedTrie::repair() {
  const std::vector<EntryId> entries = entries_in_order();
  for (const EntryId entry : entries) moves_.push_back({numbers_[entry], 0});
  lay_out(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) moves_[i].to = numbers_[entries[i]];
}

/// Entries come in token-set order, so each continues the path of the one before it.
void OrderedTrie::lay_out(std::span<const EntryId> ordered) {
  trie_.clear();
  trie_[kTrieRoot] = kNewBranch;
  level_sizes_.clear();
  line_.start(ordered.size(), options_.reserve);
  std::vector<Position> path, last_path;
  std::vector<TrieNodeId> nodes{kTrieRoot};  // along last_path
  for (const EntryId entry : ordered) {
    path.clear();
    append_path(entry, path);
    std::size_t depth = 0;
    while (depth < path.size() && depth < last_path.size() && path[depth] == last_path[depth]) {
      ++depth;
    }
    nodes.resize(depth + 1);
    for (; depth < path.size(); ++depth) {
      nodes.push_back(add_node(nodes.back(), path[depth], static_cast<std::uint32_t>(depth + 1)));
    }
    const FloatBox box = float_box(store_.bounds(store_.owner(entry)));
    const Number number = line_.append({entry, nodes.back(), box});
    numbers_.set(entry, number);
    ++trie_[nodes.back()].own;
    widen_up(nodes.back(), number, box);
    path.swap(last_path);
  }
}

}  // namespace nearcast
