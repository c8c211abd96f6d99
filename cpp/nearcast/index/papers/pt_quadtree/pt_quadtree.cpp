#include "nearcast/index/papers/pt_quadtree/pt_quadtree.h"

#include "nearcast/model/semantics.h"

namespace nearcast {

void PtQuadtree::insert(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) { tree_.insert(entry); });
}

void PtQuadtree::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) { tree_.erase(entry); });
}

void PtQuadtree::build(std::span<const SubscriptionId> ids) {
  if (ids.size() < tree_.size()) return MatchIndex::build(ids);
  tree_.rebuild();
}

void PtQuadtree::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  tree_.filter(message, scratch, sink.work, [&](std::span<const PivotItem> items) {
    sink.work.candidates += items.size();
    for (const PivotItem& item : items) {
      const EntryId entry{item.label};
      if (!touches(item.box, message.place)) continue;
      if (!matches(store_, entry, message, &scratch.shapes)) continue;
      const bool is_first = message.place.is_point
                                ? scratch.first_report(store_, entry)
                                : scratch.visited.first_visit(raw(store_.owner(entry)));
      if (is_first) sink.accept(store_.owner(entry));
    }
  });
}

}  // namespace nearcast
