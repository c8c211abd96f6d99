/// Matches one message with LFilter. [LFilter §5.4, Alg. 3 with HybridPrune]
#include <algorithm>

#include "nearcast/index/papers/lfilter/cost_model.h"
#include "nearcast/index/papers/lfilter/lfilter.h"
#include "nearcast/model/semantics.h"

namespace nearcast {
namespace {

/// So far down lists are narrowed; what is left is verified. A path may have thousands of nodes, and
/// each of them would take room on the stack of the calling thread.
constexpr std::size_t kDeepest = 64;

constexpr std::uint32_t kEstimateLevel = 4;

std::span<const PivotItem> list_at(const std::vector<std::uint64_t>& lists, std::size_t i) {
  return {reinterpret_cast<const PivotItem*>(lists[i]), lists[i + 1]};
}

void push_list(std::vector<std::uint64_t>& lists, std::span<const PivotItem> items) {
  lists.push_back(reinterpret_cast<std::uint64_t>(items.data()));
  lists.push_back(items.size());
}

}  // namespace

bool LFilter::prefers_trie(const Message& message, std::size_t tokens) const {
  if (filter_ != Choice::kCost) return filter_ == Choice::kFirst;
  const TrieShape shape{trie_.level_sizes(), static_cast<double>(trie_.order().size())};
  const auto count = static_cast<double>(tokens);
  const double cells =
      quadtree_filter_steps(tree_.height(), tree_.estimate_leaves(message.place, kEstimateLevel),
                            tree_.average_marks(), count);
  return cell_cost_ * cells > trie_filter_steps(shape, count);
}

bool LFilter::prefers_direct(TrieNodeId node, std::size_t depth, std::size_t tokens,
                             const Lists& lists, const Call& call) const {
  if (verify_ != Choice::kCost) return verify_ == Choice::kFirst;
  double items = 0, searches = 0;
  for (std::size_t i = lists.begin; i < lists.end; i += 2) {
    const auto length = static_cast<double>(call.scratch.pending[i + 1]);
    items += length;
    searches += log_steps(length);
  }
  const TrieShape shape{trie_.level_sizes(), static_cast<double>(trie_.order().size())};
  const double descent =
      descent_steps(shape, depth, static_cast<double>(trie_.trie().children(node).size()),
                    static_cast<double>(tokens));
  const double all_tokens = static_cast<double>(call.message.tokens.size());
  return prune_cost_ * (descent + searches) + items >
         verify_steps(items, average_tokens(), all_tokens);
}

void LFilter::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  if (trie_.size() == 0) return;
  const Call call{message, scratch, sink};
  trie_.place_tokens(message.tokens, scratch.positions);
  if (prefers_trie(message, scratch.positions.size())) {
    match_by_trie(call);
  } else {
    match_by_quadtree(call);
  }
}

void LFilter::match_by_trie(const Call& call) const {
  trie_.search(call.scratch.positions, call.message.place, probe_, call.sink.work,
               call.scratch.queue, [&](EntryId entry) { report_if_near(entry, call); });
}

void LFilter::match_by_quadtree(const Call& call) const {
  std::vector<std::uint64_t>& lists = call.scratch.pending;
  lists.clear();
  tree_.filter(call.message, call.scratch, call.sink.work,
               [&](std::span<const PivotItem> items) { push_list(lists, items); });
  if (!lists.empty()) prune(kTrieRoot, call.scratch.positions, 0, {0, lists.size()}, call);
  lists.clear();
}

/// The lists hold only what is below the node, whose tokens the message has.
void LFilter::prune(TrieNodeId node, PositionSpan positions, std::size_t depth, const Lists& lists,
                    const Call& call) const {
  if (depth == kDeepest || prefers_direct(node, depth, positions.size(), lists, call)) {
    return verify(lists, false, call);
  }
  std::vector<std::uint64_t>& stack = call.scratch.pending;
  const std::size_t top = stack.size();
  if (trie_.trie()[node].own != 0) {
    verify(narrow(lists, trie_.trie()[node].first, trie_.end_of_own(node), call), true, call);
    stack.resize(top);
  }
  trie_.for_each_child_in(node, positions, probe_, [&](TrieNodeId child, PositionSpan following) {
    ++call.sink.work.nodes_visited;
    const Branch& branch = trie_.trie()[child];
    if (!touches(branch.box, call.message.place)) return;
    const Lists left = narrow(lists, branch.first, branch.last + 1, call);
    if (left.begin != left.end) prune(child, following, depth + 1, left, call);
    stack.resize(top);
  });
}

/// Pushes on the stack the part of each list with numbers from begin up to end.
LFilter::Lists LFilter::narrow(const Lists& lists, Number begin, Number end,
                               const Call& call) const {
  std::vector<std::uint64_t>& stack = call.scratch.pending;
  const std::size_t top = stack.size();
  const auto is_before = [](const PivotItem& item, Number number) { return item.label < number; };
  for (std::size_t i = lists.begin; i < lists.end; i += 2) {
    const std::span<const PivotItem> list = list_at(stack, i);
    const auto first = std::lower_bound(list.begin(), list.end(), begin, is_before);
    const auto last = std::lower_bound(first, list.end(), end, is_before);
    if (first != last) push_list(stack, {first, last});
  }
  return {top, stack.size()};
}

void LFilter::verify(const Lists& lists, bool has_tokens, const Call& call) const {
  for (std::size_t i = lists.begin; i < lists.end; i += 2) {
    const std::span<const PivotItem> list = list_at(call.scratch.pending, i);
    call.sink.work.candidates += list.size();
    for (const PivotItem& item : list) {
      if (!touches(item.box, call.message.place)) continue;
      const EntryId entry = trie_.line().entry(item.label);
      if (has_tokens || contains_all(call.message.tokens, store_.clause(entry).positive)) {
        report_if_near(entry, call);
      }
    }
  }
}

/// The message has the entry's positive tokens.
void LFilter::report_if_near(EntryId entry, const Call& call) const {
  const SubscriptionId id = store_.owner(entry);
  if (contains_any(call.message.tokens, store_.clause(entry).negative)) return;
  if (!area_touches(store_, id, call.message.place, &call.scratch.shapes)) return;
  // A range can meet an entry in several cells of the quadtree.
  const bool is_first = call.message.place.is_point ? call.scratch.first_report(store_, entry)
                                                    : call.scratch.visited.first_visit(raw(id));
  if (is_first) call.sink.accept(id);
}

}  // namespace nearcast
