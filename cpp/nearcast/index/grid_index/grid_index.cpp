#include "nearcast/index/grid_index/grid_index.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/index/quad_tree/verify.h"

namespace nearcast {

std::vector<ParameterSpec> GridIndex::parameters() {
  return {whole("cells", 40, 1, 4096, "cells of the grid in each dimension")};
}

// ---- subscriptions ------------------------------------------------------------------------------

void GridIndex::attach_to(std::uint32_t cell, EntryId entry, const Rect& box) {
  const Address at = address(cell, keys_[entry]);
  const std::uint32_t list = subscriptions_.find_or_create(at.row, at.column);
  postings_.push_back(subscriptions_[list], QuadPosting::of(entry, box));
}

QuadPosting& GridIndex::posting_in(std::uint32_t cell, EntryId entry) {
  const Address at = address(cell, keys_[entry]);
  const std::uint32_t list = subscriptions_.find(at.row, at.column);
  ensure(list != subscriptions_.kNone, "grid index: an entry's list is not there");
  const auto postings = postings_.view(subscriptions_[list]);
  const auto found = std::ranges::find(postings, entry, &QuadPosting::entry);
  ensure(found != postings.end(), "grid index: an entry is not in its list");
  return *found;
}

void GridIndex::detach_from(std::uint32_t cell, EntryId entry) {
  const Address at = address(cell, keys_[entry]);
  const QuadPosting& posting = posting_in(cell, entry);
  const std::uint32_t number = subscriptions_.find(at.row, at.column);
  ListHandle& list = subscriptions_[number];
  postings_.swap_remove(list, static_cast<std::uint32_t>(&posting - postings_.view(list).data()));
  if (list.size == 0) subscriptions_.free(number);
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
  // Only when all are in: the store has them all already.
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
  grid_ = Grid(frame_of_all(), grid_.side());
  subscriptions_.clear();
  postings_ = {};
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) { place(entry, store_.bounds(id)); });
  });
  message_lists_.clear();
  lists_.clear();
  lists_.for_each([&](MessageId id) { file(id); });
}

/// Where the middle 99 % of the areas have their centres: a few far away would leave all others in
/// one cell.
Rect GridIndex::frame_of_all() const {
  constexpr std::size_t kMaxLooks = 50'000;
  std::vector<double> lons, lats;
  const std::size_t step = store_.slots() / kMaxLooks + 1;
  for (std::size_t slot = 0; slot < store_.slots(); slot += step) {
    const SubscriptionId id{static_cast<std::uint32_t>(slot)};
    if (!store_.is_live(id) || store_.bounds(id) == kWorld) continue;
    const Rect& box = store_.bounds(id);
    lons.push_back((box.west + box.east) / 2);
    lats.push_back((box.south + box.north) / 2);
  }
  if (lons.empty()) return kWorld;
  std::ranges::sort(lons);
  std::ranges::sort(lats);
  const std::size_t out = lons.size() / 200, in = lons.size() - 1 - out;
  return {lons[out], lats[out], lons[in], lats[in]};
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
      posting_in(cell, entry) = QuadPosting::of(entry, to);
    } else {
      detach_from(cell, entry);
    }
  });
  grid_.for_each_home(to, [&](std::uint32_t cell) {
    if (!is_home(old, was_everywhere, cell)) attach_to(cell, entry, to);
  });
}

// ---- matching -----------------------------------------------------------------------------------

void GridIndex::scan(Address at, const Message& message, MatchScratch& scratch,
                     MatchSink& sink) const {
  if ((subscriptions_.filter(at.row) & subscriptions_.filter_bit(at.column)) == 0) return;
  const std::uint32_t list = subscriptions_.find(at.row, at.column);
  if (list == subscriptions_.kNone) return;
  verify(store_, postings_.view(subscriptions_[list]), message, scratch, sink);
}

void GridIndex::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  grid_.for_each_cell_at(message.place, [&](std::uint32_t cell) {
    ++sink.work.nodes_visited;
    for (const Token token : message.tokens) scan(address(cell, token), message, scratch, sink);
    scan(address(cell, kUnknownToken), message, scratch, sink);
  });
}

// ---- messages -----------------------------------------------------------------------------------

void GridIndex::attach(const MessageStore& messages) {
  MovingIndex::attach(messages);
  lists_.attach(messages);
}

void GridIndex::file(MessageId id) {
  const auto file_under = [&](std::uint32_t cell, Token key) {
    const Address at = address(cell, key);
    lists_.append(message_lists_.find_or_create(at.row, at.column), id);
  };
  grid_.for_each_home(messages_->place(id), [&](std::uint32_t cell) {
    for (const Token token : messages_->tokens(id)) file_under(cell, token);
    file_under(cell, kUnknownToken);
  });
}

void GridIndex::keep(MessageId id, MatchScratch& scratch, MatchSink& sink) {
  match(messages_->message(id), scratch, sink);
  lists_.start(id);
  file(id);
}

void GridIndex::drop(MessageId id) {
  lists_.end(id, [&](std::uint32_t list) { message_lists_.free(list); });
}

void GridIndex::find(SubscriptionId id, std::vector<MessageId>& out) const {
  const std::size_t first = out.size();
  const Rect& box = store_.bounds(id);
  store_.for_each_entry(id, [&](EntryId entry) {
    grid_.for_each_cell_at(box, box, [&](std::uint32_t cell) {
      const Address at = address(cell, keys_[entry]);
      const std::uint32_t list = message_lists_.find(at.row, at.column);
      if (list != message_lists_.kNone) find_in(store_, entry, lists_, list, out);
    });
  });
  keep_each_once(out, first);
}

void GridIndex::judge(EntryId entry, const Rect& from, const Rect& to) const {
  const Clause clause = store_.clause(entry);
  grid_.for_each_cell_at(from, to, [&](std::uint32_t cell) {
    if (judge_.is_unchanged_in(grid_.extent(cell))) return;
    const Address at = address(cell, keys_[entry]);
    const std::uint32_t list = message_lists_.find(at.row, at.column);
    if (list != message_lists_.kNone) judge_.see(lists_, list, clause);
  });
}

void GridIndex::move(SubscriptionId id, const Area& to, SubscriptionStore& store,
                     MoveChanges& changes) {
  judge_.start(store_, id, to, changes);
  const Rect from = store_.bounds(id), bounds = bounds_of(to);
  store_.for_each_entry(id, [&](EntryId entry) {
    judge(entry, from, bounds);
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

std::size_t GridIndex::message_bytes() const {
  return message_lists_.memory_bytes() + lists_.memory_bytes();
}

void GridIndex::save(ArchiveWriter& out) const {
  out.value(grid_.frame());
  workload_.save(out);
  keys_.save(out);
  subscriptions_.save(out);
  postings_.save(out);
}

void GridIndex::load(ArchiveReader& in) {
  grid_ = Grid(in.value<Rect>(), grid_.side());
  workload_.load(in);
  keys_.load(in);
  subscriptions_.load(in);
  postings_.load(in);
}

}  // namespace nearcast
