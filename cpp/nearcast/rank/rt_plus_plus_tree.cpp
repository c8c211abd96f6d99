#include "nearcast/rank/rt_plus_plus_tree.h"

#include <algorithm>

#include "nearcast/rank/text_needs.h"
#include "nearcast/rank/verifier.h"

namespace nearcast {
namespace {

/// A stretch of RankScratch::steps.
struct Steps {
  std::size_t first = 0, last = 0;
};

/// The search for one message.
class LevelSearch {
 public:
  LevelSearch(const RankStore& store, const EntryTree<LevelSummary>& tree, const Message& message,
              RankScratch& scratch, RankSink& sink)
      : store_(store),
        tree_(tree),
        nodes_(tree.nodes()),
        levels_(tree.summary().levels),
        bounds_(tree.summary().bounds),
        message_(message),
        scratch_(scratch),
        sink_(sink),
        verifier_(store, message, scratch, sink) {
    scratch_.steps.clear();
    if (scratch_.tallies.size() < store.slots()) scratch_.tallies.resize(store.slots());
  }

  void visit_all() {
    visit(nodes_.root(), {});
    verifier_.finish();
  }

 private:
  using Reach = LevelBounds::Reach;
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  /// `followed`: steps to this node, for subscriptions found above it that may have tokens here.
  void visit(RNodeId node, Steps followed) {
    ++sink_.work.nodes_visited;
    if (nodes_.is_leaf(node)) return read_leaf(node);
    const std::size_t first = scratch_.steps.size();
    if (nodes_.level(node) <= levels_.top()) read_lists(node, followed);
    add_children(node);
    visit_children(first);
    scratch_.steps.resize(first);
  }

  /// Position, in the order of levels, of the first token that lies at a node.
  std::uint32_t position(RNodeId node) const {
    const std::uint32_t level = nodes_.level(node);
    return level > levels_.top() ? 0 : levels_.top() - level;
  }

  /// Adds up what the message's tokens find at a node. Calls visit(id) for each subscription that
  /// is found for the first time.
  template <typename Visit>
  void look_up(RNodeId node, Visit&& visit) {
    for (const Token token : message_.tokens) {
      const double weight = store_.weights()[token];
      levels_.postings().for_each_block(
          raw(node), key_of(token), [&](std::span<const std::uint32_t> items) {
            sink_.work.candidates += items.size();
            for (const std::uint32_t item : items) {
              const bool is_new = scratch_.visited.first_visit(item);
              scratch_.tallies[item] = (is_new ? 0 : scratch_.tallies[item]) + weight;
              if (is_new) visit(SubscriptionId{item});
            }
          });
    }
  }

  bool can_reach(SubscriptionId id, double most_weight) const {
    const RankTerms& terms = store_.terms(id);
    const double textual = most_weight / store_.weight(id);
    return combine(terms.alpha, store_.spatial(id, message_.place), textual) >=
           score_goal(terms.threshold);
  }

  void read_lists(RNodeId node, Steps followed) {
    look_up(node, [&](SubscriptionId id) { follow(node, id); });
    for (std::size_t i = followed.first; i < followed.last; ++i) {
      const auto id = static_cast<std::uint32_t>(scratch_.steps[i]);
      if (id != kNone) follow(node, SubscriptionId{id});
    }
  }

  /// One step towards the leaf, as long as there are tokens that can make a difference.
  void follow(RNodeId node, SubscriptionId id) {
    const EntryId entry = RankStore::entry_of(id);
    const std::uint32_t own = position(node);
    if (!can_reach(id, scratch_.tallies[raw(id)] + bounds_.rest(entry, own))) return;
    if (own + 1 < bounds_.count(entry)) {
      RNodeId child = tree_.leaf_of(entry);
      while (nodes_.parent(child) != node) child = nodes_.parent(child);
      add_step(child, raw(id));
    } else if (!needs_no_token(entry, store_.bounds(id))) {
      verifier_.propose_once(id);
    }
  }

  void add_step(RNodeId child, std::uint32_t id) {
    scratch_.steps.push_back(std::uint64_t{raw(child)} << 32 | id);
  }

  bool may_start(Reach reach, const Rect& box, std::uint32_t from) const {
    return reach.far > from || (reach.near > from && touches(box, message_.place));
  }

  /// Such an entry is found in its leaf and decided there.
  bool needs_no_token(EntryId entry, const Rect& box) const {
    return may_start(bounds_.reach(entry), box, Prefixes::kNothingNeeded - 1);
  }

  /// Visits children below which a subscription may be found for the first time.
  void add_children(RNodeId node) {
    const std::span<const Rect> boxes = nodes_.boxes(node);
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      const RNodeId child = nodes_.child(node, slot);
      if (may_start(bounds_.reach(child), boxes[slot], position(child))) add_step(child, kNone);
    }
  }

  void visit_children(std::size_t first) {
    const auto& steps =
        scratch_.steps;  // nodes below push their steps behind ours and pop them again
    std::sort(scratch_.steps.begin() + static_cast<std::ptrdiff_t>(first), scratch_.steps.end());
    const std::size_t end = steps.size();
    while (first < end) {
      const std::uint64_t child = steps[first] >> 32;
      std::size_t last = first;
      while (last < end && steps[last] >> 32 == child) ++last;
      visit(RNodeId{static_cast<std::uint32_t>(child)}, {first, last});
      first = last;
    }
  }

  /// In a leaf an entry may be in several lists: it is decided when all have been read.
  void read_leaf(RNodeId leaf) {
    look_up(leaf, [](SubscriptionId) {});
    const std::uint32_t own = position(leaf);
    const std::span<const Rect> boxes = nodes_.boxes(leaf);
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      const EntryId entry = nodes_.entry(leaf, slot);
      const SubscriptionId id{raw(entry)};
      const auto is_left = [&] {  // those whose tokens end above were decided there
        return scratch_.visited.was_visited(raw(id)) && own < bounds_.count(entry) &&
               can_reach(id, scratch_.tallies[raw(id)]);
      };
      if (needs_no_token(entry, boxes[slot]) || is_left()) verifier_.propose_once(id);
    }
  }

  const RankStore& store_;
  const EntryTree<LevelSummary>& tree_;
  const RTreeNodes& nodes_;
  const TokenLevels& levels_;
  const LevelBounds& bounds_;
  const Message& message_;
  RankScratch& scratch_;
  RankSink& sink_;
  RankVerifier verifier_;
};

}  // namespace

void RtPlusPlusTreeRank::rank(const Message& message, RankScratch& scratch, RankSink& sink) const {
  if (tree_.size() == 0) return;
  LevelSearch(store_, tree_, message, scratch, sink).visit_all();
}

}  // namespace nearcast
