#include "nearcast/rank/rt_plus_plus_tree.h"

#include <algorithm>

#include "nearcast/rank/text_needs.h"
#include "nearcast/rank/verifier.h"

namespace nearcast {
namespace {

/// One message on its way through the tree.
class Search {
 public:
  Search(const RankStore& store, const EntryTree<LevelSummary>& tree, const Message& message,
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
    scratch_.pending.clear();
    if (scratch_.tallies.size() < store.slots()) scratch_.tallies.resize(store.slots());
  }

  void visit(RNodeId node) {
    ++sink_.work.nodes_visited;
    if (nodes_.is_leaf(node)) return read_leaf(node);
    const std::size_t first = scratch_.pending.size();
    if (nodes_.level(node) <= levels_.top()) read_lists(node);
    add_children(node);
    visit_pending(first);
    scratch_.pending.resize(first);
  }

  void finish() { verifier_.finish(); }

 private:
  using Reach = LevelBounds::Reach;

  /// Position, in the order of levels, of the first token that lies at a node.
  std::uint32_t position(RNodeId node) const {
    const std::uint32_t level = nodes_.level(node);
    return level > levels_.top() ? 0 : levels_.top() - level;
  }

  /// Calls visit(id) for each subscription in a list of the message's tokens, with the weight that
  /// was found of it until now.
  template <typename Visit>
  void look_up(RNodeId node, Visit&& visit) {
    for (const Token token : message_.tokens) {
      const auto items = levels_.postings().find(raw(node), key_of(token));
      sink_.work.candidates += items.size();
      const double weight = store_.weights()[token];
      for (const std::uint32_t item : items) {
        double& tally = scratch_.tallies[item];
        tally = (scratch_.visited.first_visit(item) ? 0 : tally) + weight;
        visit(SubscriptionId{item}, tally);
      }
    }
  }

  bool can_reach(SubscriptionId id, double most_weight) const {
    const RankTerms& terms = store_.terms(id);
    const double textual = most_weight / store_.weight(id);
    return combine(terms.alpha, store_.spatial(id, message_.place), textual) >=
           score_goal(terms.threshold);
  }

  /// Whoever is found and can still reach its threshold is followed towards its leaf.
  void read_lists(RNodeId node) {
    const std::uint32_t own = position(node);
    look_up(node, [&](SubscriptionId id, double tally) {
      const EntryId entry = RankStore::entry_of(id);
      if (!can_reach(id, tally + bounds_.rest(entry, own))) return;
      RNodeId child = tree_.leaf_of(entry);
      while (nodes_.parent(child) != node) child = nodes_.parent(child);
      scratch_.pending.push_back(raw(child));
    });
  }

  bool may_start(Reach reach, const Rect& box, std::uint32_t from) const {
    return reach.far > from || (reach.near > from && touches(box, message_.place));
  }

  /// Children below which someone may be found for the first time.
  void add_children(RNodeId node) {
    const std::span<const Rect> boxes = nodes_.boxes(node);
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      const RNodeId child = nodes_.child(node, slot);
      if (may_start(bounds_.reach(child), boxes[slot], position(child)))
        scratch_.pending.push_back(raw(child));
    }
  }

  void visit_pending(std::size_t first) {
    std::vector<std::uint32_t>& pending = scratch_.pending;
    const auto begin = pending.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, pending.end());
    pending.erase(std::unique(begin, pending.end()), pending.end());
    const std::size_t end = pending.size();
    for (std::size_t i = first; i < end; ++i) visit(RNodeId{pending[i]});
  }

  /// In a leaf an entry may be in several lists: it is decided when all have been read.
  void read_leaf(RNodeId leaf) {
    look_up(leaf, [](SubscriptionId, double) {});
    const std::span<const Rect> boxes = nodes_.boxes(leaf);
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      const EntryId entry = nodes_.entry(leaf, slot);
      const SubscriptionId id{raw(entry)};
      const bool needs_no_token =
          may_start(bounds_.reach(entry), boxes[slot], Prefixes::kNothingNeeded - 1);
      const bool is_left =
          scratch_.visited.was_visited(raw(id)) && can_reach(id, scratch_.tallies[raw(id)]);
      if (needs_no_token || is_left) verifier_.propose_once(id);
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
  Search search(store_, tree_, message, scratch, sink);
  search.visit(tree_.nodes().root());
  search.finish();
}

}  // namespace nearcast
