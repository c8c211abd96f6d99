#include "nearcast/index/baselines/grid_index/grid_index.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/index/parts/quad_tree/verify.h"

namespace nearcast {

std::vector<ParameterSpec> GridIndex::parameters() {
  return {whole("cells", 40, 1, 4096, "cells of the grid in each dimension")};
}

// ---- subscriptions ------------------------------------------------------------------------------

void GridIndex::attach_to(std::uint32_t cell, EntryId entry, const Rect& box) {
  const GridAddress at = GridAddress::of(order_, cell, keys_[entry]);
  const std::uint32_t list = subscriptions_.find_or_create(at.row, at.column);
  postings_.insert(subscriptions_[list], QuadPosting::of(entry, box));
}

std::uint32_t GridIndex::list_of(std::uint32_t cell, EntryId entry) const {
  const std::uint32_t list = list_at(cell, keys_[entry]);
  ensure(list != subscriptions_.kNone, "grid index: an entry's list is not there");
  return list;
}

void GridIndex::detach_from(std::uint32_t cell, EntryId entry) {
  const std::uint32_t number = list_of(cell, entry);
  ensure(postings_.erase(subscriptions_[number], raw(entry)),
         "grid index: an entry is not in its list");
  if (subscriptions_[number].size == 0) subscriptions_.free(number);
}

void GridIndex::place(EntryId entry, const Rect& box) {
  keys_.set(entry, workload_.rarest(store_.clause(entry)));
  grid_.for_each_home(box, [&](std::uint32_t cell) { attach_to(cell, entry, box); });
}

void GridIndex::build(std::span<const SubscriptionId> ids) {
  if (ids.size() > workload_.clauses()) return rebuild();
  for (const SubscriptionId id : ids) {
    store_.for_each_entry(id, [&](EntryId entry) {
      workload_.count(store_.clause(entry), +1);
      place(entry, store_.bounds(id));
    });
  }
  // After all are inserted, because the store has them all already.
  if (workload_.has_outgrown_build()) rebuild();
}

void GridIndex::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    workload_.count(store_.clause(entry), -1);
    grid_.for_each_home(store_.bounds(id), [&](std::uint32_t cell) { detach_from(cell, entry); });
  });
}

/// Everything in the store, which already has what is being added, and all messages.
void GridIndex::rebuild() {
  workload_.count_all(store_);
  grid_ = Grid(frame_of(store_), grid_.side());
  subscriptions_.clear();
  postings_ = {};
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) { place(entry, store_.bounds(id)); });
  });
  kept_.set_frame(grid_.frame());
}

/// From cells it leaves to cells it enters; where it stays, only its box changes.
void GridIndex::shift(EntryId entry, const Rect& from, const Rect& to) {
  const Grid::Range old = grid_.range_of(from), now = grid_.range_of(to);
  const bool was_everywhere = grid_.is_everywhere(old), is_everywhere = grid_.is_everywhere(now);
  const auto is_home = [&](const Grid::Range& range, bool everywhere, std::uint32_t cell) {
    if (cell == grid_.everywhere()) return everywhere;
    return !everywhere && range.contains(cell % grid_.side(), cell / grid_.side());
  };
  grid_.for_each_home(from, [&](std::uint32_t cell) {
    if (is_home(now, is_everywhere, cell)) {
      BlockList& list = subscriptions_[list_of(cell, entry)];
      ensure(postings_.erase(list, raw(entry)), "grid index: an entry is not in its list");
      postings_.insert(list, QuadPosting::of(entry, to));
    } else {
      detach_from(cell, entry);
    }
  });
  grid_.for_each_home(to, [&](std::uint32_t cell) {
    if (!is_home(old, was_everywhere, cell)) attach_to(cell, entry, to);
  });
}

// ---- matching -----------------------------------------------------------------------------------

void GridIndex::scan(std::uint32_t cell, Token key, const Message& message, MatchScratch& scratch,
                     MatchSink& sink) const {
  const GridAddress at = GridAddress::of(order_, cell, key);
  if ((subscriptions_.filter(at.row) & subscriptions_.filter_bit(at.column)) == 0) return;
  const std::uint32_t list = subscriptions_.find(at.row, at.column);
  if (list == subscriptions_.kNone) return;
  postings_.for_each_block(subscriptions_[list], [&](std::span<const QuadPosting> postings) {
    verify(store_, postings, message, scratch, sink);
  });
}

void GridIndex::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  grid_.for_each_cell_at(message.place, [&](std::uint32_t cell) {
    ++sink.work.nodes_visited;
    for (const Token token : message.tokens) scan(cell, token, message, scratch, sink);
    scan(cell, kUnknownToken, message, scratch, sink);
  });
}

// ---- messages -----------------------------------------------------------------------------------

void GridIndex::keep(MessageId id, MatchScratch& scratch, MatchSink& sink) {
  match(messages_->message(id), scratch, sink);
  kept_.keep(id);
}

void GridIndex::find(SubscriptionId id, std::vector<MessageId>& out) const {
  const std::size_t first = out.size();
  store_.for_each_entry(id, [&](EntryId entry) { kept_.find(store_, entry, keys_[entry], out); });
  keep_each_once(out, first);
}

void GridIndex::move(SubscriptionId id, const Area& to, SubscriptionStore& store,
                     MoveChanges& changes) {
  judge_.start(store_, id, to, changes);
  const Rect from = store_.bounds(id), bounds = bounds_of(to);
  store_.for_each_entry(id, [&](EntryId entry) {
    kept_.show(judge_, store_, entry, keys_[entry], from, bounds);
    shift(entry, from, bounds);
  });
  store.replace_area(id, to);
  judge_.finish();
}

// ---- the whole ----------------------------------------------------------------------------------

std::size_t GridIndex::memory_bytes() const {
  return workload_.memory_bytes() + keys_.memory_bytes() + subscriptions_.memory_bytes() +
         postings_.memory_bytes();
}

}  // namespace nearcast
