#include "nearcast/index/baselines/ir_tree/ir_tree.h"

#include <algorithm>

#include "nearcast/model/semantics.h"

namespace nearcast {
namespace {

/// The search for one message.
class Search {
 public:
  Search(const SubscriptionStore& store, const RTree<ChildTokens>& tree, const Message& message,
         MatchScratch& scratch, MatchSink& sink)
      : store_(store),
        nodes_(tree.nodes()),
        postings_(tree.summary().postings()),
        message_(message),
        scratch_(scratch),
        sink_(sink) {
    scratch_.positions.clear();
    append_message_keys(message.tokens, scratch_.positions);
    scratch_.pending.clear();
  }

  void visit(RNodeId node) {
    ++sink_.work.nodes_visited;
    const std::size_t first = scratch_.pending.size();
    find_items(node, first);
    const bool is_leaf = nodes_.is_leaf(node);
    if (is_leaf) sink_.work.candidates += nodes_.count(node);
    const std::span<const Rect> boxes = nodes_.boxes(node);
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      if (!touches(boxes[slot], message_.place)) continue;
      const std::size_t found = times_found(first, nodes_.item(node, slot));
      if (found == 0) continue;
      if (is_leaf) {
        decide(nodes_.entry(node, slot), found);
      } else {
        visit(nodes_.child(node, slot));
      }
    }
    scratch_.pending.resize(first);
  }

 private:
  /// Appends what the message's tokens lead to at this node, once per token, sorted. What the nodes
  /// above still need is before it.
  void find_items(RNodeId node, std::size_t first) {
    for (const std::uint32_t key : scratch_.positions) {
      postings_.for_each_block(raw(node), TokenKey{key}, [&](std::span<const std::uint32_t> items) {
        scratch_.pending.insert(scratch_.pending.end(), items.begin(), items.end());
      });
    }
    std::sort(scratch_.pending.begin() + static_cast<std::ptrdiff_t>(first),
              scratch_.pending.end());
  }

  std::size_t times_found(std::size_t first, std::uint32_t item) const {
    const auto found =
        std::equal_range(scratch_.pending.begin() + static_cast<std::ptrdiff_t>(first),
                         scratch_.pending.end(), std::uint64_t{item});
    return static_cast<std::size_t>(found.second - found.first);
  }

  void decide(EntryId entry, std::size_t found) {
    const Clause clause = store_.clause(entry);
    const SubscriptionId id = store_.owner(entry);
    if (found != key_count(clause) || contains_any(message_.tokens, clause.negative)) return;
    if (!store_.bounds_are_exact(id) && !area_touches(store_, id, message_.place, &scratch_.shapes))
      return;
    if (scratch_.first_report(store_, entry)) sink_.accept(id);
  }

  const SubscriptionStore& store_;
  const RTreeNodes& nodes_;
  const PostingTables& postings_;
  const Message& message_;
  MatchScratch& scratch_;
  MatchSink& sink_;
};

}  // namespace

void IrTree::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  if (tree_.size() == 0) return;
  Search(store_, tree_, message, scratch, sink).visit(tree_.nodes().root());
}

}  // namespace nearcast
