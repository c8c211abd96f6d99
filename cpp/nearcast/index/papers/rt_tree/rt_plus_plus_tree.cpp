#include "nearcast/index/papers/rt_tree/rt_plus_plus_tree.h"

#include <algorithm>

#include "nearcast/base/prefetch.h"
#include "nearcast/index/papers/rt_tree/tallies.h"
#include "nearcast/model/semantics.h"

namespace nearcast {
namespace {

/// The search for one message.
class Search {
 public:
  Search(const SubscriptionStore& store, const RTree<TokenLevels>& tree, const Message& message,
         MatchScratch& scratch, MatchSink& sink)
      : store_(store),
        tree_(tree),
        nodes_(tree.nodes()),
        postings_(tree.summary().postings()),
        message_(message),
        scratch_(scratch),
        sink_(sink),
        tallies_(scratch.own<TallyCells>()) {
    scratch_.positions.clear();
    append_message_keys(message.tokens, scratch_.positions);
    scratch_.pending.clear();
  }

  /// Down to the nodes that hold first tokens, by boxes alone.
  void descend(RNodeId node) {
    if (nodes_.level(node) == tree_.summary().top()) return start(node);
    ++sink_.work.nodes_visited;
    const std::span<const Rect> boxes = nodes_.boxes(node);
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      if (touches(boxes[slot], message_.place)) descend(nodes_.child(node, slot));
    }
  }

 private:
  /// Cases 2.1 and 2.2 of [Rt §5.2] at the level of first tokens: every entry whose box touches the
  /// message is found here first.
  void start(RNodeId node) {
    const std::size_t first_wanted = scratch_.pending.size();
    look_up(node, [&](EntryId entry) {
      if (!touches(store_.bounds(store_.owner(entry)), message_.place)) return;
      // In a tree of one leaf that holds all tokens an entry comes back with its next token.
      std::uint32_t missing = nodes_.is_leaf(node) ? tallies_.count_down(entry) : Tallies::kAbsent;
      if (missing == Tallies::kAbsent) {
        missing = static_cast<std::uint32_t>(key_count(store_.clause(entry)) - 1);
        if (missing != 0) tallies_.insert(entry, missing);
      }
      decide(node, entry, missing);
    });
    follow_wanted(first_wanted);
  }

  /// Below: only entries that were met before count. The others are case 1, a token is missing.
  void follow(RNodeId node) {
    const std::size_t first_wanted = scratch_.pending.size();
    look_up(node, [&](EntryId entry) {
      const std::uint32_t missing = tallies_.count_down(entry);
      if (missing != Tallies::kAbsent) decide(node, entry, missing);
    });
    follow_wanted(first_wanted);
  }

  /// Calls visit(entry) for each entry in a list of the message's tokens.
  template <typename Visit>
  void look_up(RNodeId node, Visit&& visit) {
    constexpr std::size_t kAhead = 8;  // boxes are anywhere in memory: prefetch early
    ++sink_.work.nodes_visited;
    for (const std::uint32_t key : scratch_.positions) {
      postings_.for_each_block(raw(node), TokenKey{key}, [&](std::span<const std::uint32_t> items) {
        sink_.work.candidates += items.size();
        for (std::size_t i = 0; i < items.size(); ++i) {
          if (i + kAhead < items.size()) {
            prefetch_line(&store_.bounds(store_.owner(EntryId{items[i + kAhead]})));
          }
          visit(EntryId{items[i]});
        }
      });
    }
  }

  void decide(RNodeId node, EntryId entry, std::uint32_t missing) {
    if (missing == 0) return report(entry);
    if (nodes_.is_leaf(node)) return;
    RNodeId child = tree_.leaf_of(entry);
    while (nodes_.parent(child) != node) child = nodes_.parent(child);
    scratch_.pending.push_back(raw(child));
  }

  void follow_wanted(std::size_t first) {
    std::vector<std::uint64_t>& wanted = scratch_.pending;
    const auto begin = wanted.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, wanted.end());
    wanted.erase(std::unique(begin, wanted.end()), wanted.end());
    const std::size_t end = wanted.size();
    for (std::size_t i = first; i < end; ++i) {
      follow(RNodeId{static_cast<std::uint32_t>(wanted[i])});
    }
    wanted.resize(first);
  }

  void report(EntryId entry) {
    const SubscriptionId id = store_.owner(entry);
    if (contains_any(message_.tokens, store_.clause(entry).negative)) return;
    if (!store_.bounds_are_exact(id) && !area_touches(store_, id, message_.place, &scratch_.shapes))
      return;
    if (scratch_.first_report(store_, entry)) sink_.accept(id);
  }

  const SubscriptionStore& store_;
  const RTree<TokenLevels>& tree_;
  const RTreeNodes& nodes_;
  const PostingTables& postings_;
  const Message& message_;
  MatchScratch& scratch_;
  MatchSink& sink_;
  Tallies tallies_;
};

}  // namespace

void RtPlusPlusTree::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  if (tree_.size() == 0) return;
  Search(store_, tree_, message, scratch, sink).descend(tree_.nodes().root());
}

}  // namespace nearcast
