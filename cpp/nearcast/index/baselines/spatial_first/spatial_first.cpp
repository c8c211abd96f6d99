#include "nearcast/index/baselines/spatial_first/spatial_first.h"

#include "nearcast/base/errors.h"
#include "nearcast/model/semantics.h"

namespace nearcast {

bool SpatialFirst::has_clause(SubscriptionId id) const {
  bool found = false;
  store_.for_each_entry(id, [&](EntryId) { found = true; });
  return found;
}

void SpatialFirst::insert(SubscriptionId id) {
  if (has_clause(id)) tree_.insert(entry_of(id), store_.bounds(id));
}

void SpatialFirst::erase(SubscriptionId id) {
  if (has_clause(id)) tree_.erase(entry_of(id));
}

void SpatialFirst::build(std::span<const SubscriptionId> ids) {
  if (tree_.size() != 0) return MatchIndex::build(ids);
  std::vector<EntryId> entries;
  std::vector<Rect> boxes;
  for (const SubscriptionId id : ids) {
    if (!has_clause(id)) continue;
    entries.push_back(entry_of(id));
    boxes.push_back(store_.bounds(id));
  }
  tree_.build(entries, boxes);
}

void SpatialFirst::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  tree_.search(
      message.place, sink.work, [](RNodeId) { return true; },
      [&](EntryId entry) {
        const SubscriptionId id = store_.owner(entry);
        if (matches(store_, id, message, &scratch.shapes)) sink.accept(id);
      });
}

void SpatialFirst::check_invariants() const {
  tree_.check_invariants();
  std::size_t expected = 0;
  store_.for_each([&](SubscriptionId id) { expected += has_clause(id) ? 1 : 0; });
  ensure(tree_.size() == expected, "spatial-first: the tree holds more or fewer than the store");
  if (expected == 0) return;
  tree_.nodes().for_each_entry_below(tree_.nodes().root(), [&](EntryId entry, const Rect& box) {
    const SubscriptionId id = store_.owner(entry);
    ensure(store_.is_live(id) && entry == entry_of(id),
           "spatial-first: an entry stands for no subscription");
    ensure(box == store_.bounds(id), "spatial-first: a box is not its subscription's");
  });
}

}  // namespace nearcast
