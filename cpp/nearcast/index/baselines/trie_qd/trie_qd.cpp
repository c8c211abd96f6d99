#include "nearcast/index/baselines/trie_qd/trie_qd.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/index/parts/quad_tree/quad_parameters.h"
#include "nearcast/index/parts/quad_tree/verify.h"

namespace nearcast {

TrieQd::TrieQd(const SubscriptionStore& store, const Parameters& parameters)
    : MatchIndex(store), areas_(quad_limits(parameters), store, workload_, copy_cost(parameters)) {}

std::vector<ParameterSpec> TrieQd::parameters() { return quad_parameters(64, 10); }

double TrieQd::chance_of(EntryId entry) const {
  return workload_.chance(workload_.rarest(store_.clause(entry)));
}

bool TrieQd::find_path(EntryId entry, std::vector<Position>& path) const {
  path.clear();
  for (const Token token : store_.clause(entry).positive) path.push_back(order_.position(token));
  std::ranges::sort(path);
  return path.empty() || path.back() != TokenOrder::kUnplaced;
}

TrieNodeId TrieQd::find_or_add(EntryId entry) {
  for (const Token token : store_.clause(entry).positive) order_.position_or_append(token);
  find_path(entry, path_);
  return trie_.find_or_add(path_);
}

void TrieQd::build(std::span<const SubscriptionId> ids) {
  if (ids.size() > workload_.clauses()) return rebuild();
  for (const SubscriptionId id : ids) {
    store_.for_each_entry(id, [&](EntryId entry) {
      workload_.count(store_.clause(entry), +1);
      areas_.insert(trie_[find_or_add(entry)], item_of(entry), chance_of(entry));
    });
  }
  // After all are inserted, because the store has them all already.
  if (workload_.has_outgrown_build()) rebuild();
}

void TrieQd::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    find_path(entry, path_);
    const TrieNodeId node = trie_.find(path_);
    ensure(node != kNoTrieNode, "trie-qd: an entry's keywords are not in the trie");
    areas_.erase(trie_[node], item_of(entry));
    trie_.prune(node, [&](TrieNodeId above) { return !trie_[above].is_empty(); });
    workload_.count(store_.clause(entry), -1);
  });
}

/// From everything in the store, which already has what is being added.
void TrieQd::rebuild() {
  workload_.assume(store_);
  workload_.count_all(store_);
  order_.order_by(workload_.frequencies());
  trie_.clear();
  areas_.clear();
  struct Placed {
    TrieNodeId node;
    EntryId entry;
  };
  std::vector<Placed> placed;
  placed.reserve(workload_.clauses());
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id,
                          [&](EntryId entry) { placed.push_back({find_or_add(entry), entry}); });
  });
  std::ranges::sort(placed, {}, &Placed::node);
  for (auto from = placed.begin(); from != placed.end();) {
    const auto to = std::find_if(from, placed.end(),
                                 [&](const Placed& other) { return other.node != from->node; });
    std::vector<Item> items;
    for (auto at = from; at != to; ++at) items.push_back(item_of(at->entry));
    areas_.build(trie_[from->node], std::move(items), chance_of(from->entry));
    from = to;
  }
}

/// Reports what stands at the node, and appends the steps to those of its children that the message
/// leads to. A step is a node, and how many of the message's positions lie before those that are left.
void TrieQd::match_at(TrieNodeId node, std::size_t from, const Message& message,
                      MatchScratch& scratch, MatchSink& sink) const {
  ++sink.work.nodes_visited;
  areas_.search(trie_[node], message.place, sink.work, [&](std::span<const QuadPosting> postings) {
    verify(store_, postings, message, scratch, sink);
  });
  // The fewer look for the more. Both ascend: what lies before a hit is of no use after it.
  const std::span<const Position> all = scratch.positions;
  std::span<const Position> positions = all.subspan(from);
  std::span<const TrieChild> children = trie_.children(node);
  while (!children.empty() && !positions.empty()) {
    if (children.size() < positions.size()) {
      positions = {std::ranges::lower_bound(positions, children.front().position), positions.end()};
    } else {
      const auto found =
          std::ranges::lower_bound(children, positions.front(), {}, &TrieChild::position);
      children = {found, children.end()};
    }
    if (positions.empty() || children.empty()) return;
    if (positions.front() == children.front().position) {
      positions = positions.subspan(1);
      scratch.pending.push_back(std::uint64_t{raw(children.front().node)} << 32 |
                                (all.size() - positions.size()));
      children = children.subspan(1);
    } else if (positions.front() < children.front().position) {
      positions = positions.subspan(1);
    } else {
      children = children.subspan(1);
    }
  }
}

void TrieQd::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  scratch.positions.clear();
  for (const Token token : message.tokens) {
    const Position position = order_.position(token);
    if (position != TokenOrder::kUnplaced) scratch.positions.push_back(position);
  }
  std::ranges::sort(scratch.positions);
  // A path may have thousands of nodes, so the walk does not recurse.
  scratch.pending.assign(1, std::uint64_t{raw(kTrieRoot)} << 32);
  while (!scratch.pending.empty()) {
    const std::uint64_t step = scratch.pending.back();
    scratch.pending.pop_back();
    match_at(TrieNodeId{static_cast<std::uint32_t>(step >> 32)}, step & 0xFFFFFFFFu, message,
             scratch, sink);
  }
}

std::size_t TrieQd::memory_bytes() const {
  return workload_.memory_bytes() + order_.memory_bytes() + trie_.memory_bytes() +
         areas_.memory_bytes();
}

void TrieQd::check_invariants() const {
  trie_.check_invariants();
  std::size_t entries = 0, copies = 0, postings = 0;
  std::vector<Position> path;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      ensure(find_path(entry, path), "trie-qd: a keyword of an entry has no position");
      const TrieNodeId node = trie_.find(path);
      ensure(node != kNoTrieNode, "trie-qd: an entry's keywords are not in the trie");
      copies += areas_.check_item(trie_[node], item_of(entry));
    });
  });
  trie_.for_each([&](TrieNodeId node, std::uint32_t) {
    ensure(node == kTrieRoot || trie_.has_children(node) || !trie_[node].is_empty(),
           "trie-qd: a node that nothing needs was not freed");
    postings += areas_.check(trie_[node]);
  });
  ensure(copies == postings, "trie-qd: lists hold entries that no subscription has");
  ensure(entries == workload_.clauses(), "trie-qd: clauses are counted wrongly");
}

}  // namespace nearcast
