#include "nearcast/rank/rt_plus_tree.h"

#include <vector>

#include "nearcast/index/papers/rt_tree/token_filter.h"
#include "nearcast/rank/verifier.h"

namespace nearcast {

RtPlusTreeRank::RtPlusTreeRank(const RankStore& store, const Parameters& parameters)
    : RankIndex(store), limits_(r_tree_limits(parameters)) {
  make_tree();
}

void RtPlusTreeRank::make_tree() {
  prefixes_ = std::make_unique<PrefixStore>(store_);
  tree_ = std::make_unique<Tree>(store_.subscriptions(), limits_,
                                 Near(PrefixKeys<Contact::kTouches>(*prefixes_)),
                                 Far(PrefixKeys<Contact::kMisses>(*prefixes_)));
}

void RtPlusTreeRank::insert(SubscriptionId id) {
  const EntryId entry = RankStore::entry_of(id);
  prefixes_->admit(std::span(&entry, 1));
  tree_->insert(id);
}

void RtPlusTreeRank::erase(SubscriptionId id) {
  tree_->erase(id);
  prefixes_->forget(RankStore::entry_of(id));
}

void RtPlusTreeRank::build(std::span<const SubscriptionId> ids) {
  std::vector<EntryId> entries;
  for (const SubscriptionId id : ids) entries.push_back(RankStore::entry_of(id));
  prefixes_->admit(entries);
  tree_->build(ids);
}

void RtPlusTreeRank::reweigh() {
  make_tree();
  std::vector<SubscriptionId> all;
  store_.for_each([&](SubscriptionId id) { all.push_back(id); });
  build(all);
}

void RtPlusTreeRank::rank(const Message& message, RankScratch& scratch, RankSink& sink) const {
  if (tree_->size() == 0) return;
  const RTreeNodes& nodes = tree_->nodes();
  TokenFilter near(nodes, tree_->summary().first.tables(), message.tokens, scratch.near_keys);
  TokenFilter far(nodes, tree_->summary().second.tables(), message.tokens, scratch.far_keys);
  RankVerifier verifier(store_, message, scratch, sink);
  // In a node that the message does not touch, nothing below is near.
  const auto visit = [&](auto&& self, RNodeId node, bool is_near, bool is_far) -> void {
    ++sink.work.nodes_visited;
    const std::span<const Rect> boxes = nodes.boxes(node);
    if (nodes.is_leaf(node)) sink.work.candidates += boxes.size();
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      const bool may_be_near = is_near && touches(boxes[slot], message.place);
      if (!may_be_near && !is_far) continue;
      if (nodes.is_leaf(node)) {
        verifier.propose_once(SubscriptionId{raw(nodes.entry(node, slot))});
      } else {
        const RNodeId child = nodes.child(node, slot);
        const bool passes_near = may_be_near && near.passes(child);
        const bool passes_far = is_far && far.passes(child);
        if (passes_near || passes_far) self(self, child, passes_near, passes_far);
      }
    }
  };
  visit(visit, nodes.root(), true, true);
  verifier.finish();
}

std::size_t RtPlusTreeRank::memory_bytes() const {
  return tree_->memory_bytes() + prefixes_->memory_bytes();
}

}  // namespace nearcast
