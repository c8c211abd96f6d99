#include "nearcast/topk/arrival/ciq/ciq_arrival.h"

#include <algorithm>
#include <cmath>

#include "nearcast/base/errors.h"
#include "nearcast/topk/arrival/needs.h"

namespace nearcast {
namespace {

bool is_smaller(SubscriptionId a, SubscriptionId b) { return raw(a) < raw(b); }

}  // namespace

template <typename Visit>
void CiqArrival::for_each_cell(Point at, Visit&& visit) const {
  CellPath path = 1;
  QuadCell cell = kWorldCell;
  for (std::uint32_t depth = 0; depth < divisions_; ++depth) {
    const Quadrant own = quadrant_of(cell, at);
    for (Quadrant other = 0; other < 4; ++other) {
      if (other != own) visit(path << 2 | other, cell.child(other));
    }
    path = path << 2 | own;
    cell = cell.child(own);
  }
  visit(path, cell);
}

void CiqArrival::insert(SubscriptionId id) {
  if (raw(id) >= rows_.size()) rows_.resize(raw(id) + 1);
  threshold_changed(id, 0);
  const TopSubscriptions::Record& record = state_.subscriptions[id];
  for_each_cell(record.at, [&](CellPath path, const QuadCell& cell) {
    const double lost = distance_to(cell.bounds(), record.at) / state_.max_distance;
    const float nearness = rounded_up(std::max(1 - lost * (1 - 1e-12), 0.0));
    for (const Token token : state_.subscriptions.tokens(id)) {
      const float weight = rounded_up((*state_.weights)[token] / record.length);
      add(key_of(path, token), {id, weight, nearness});
    }
  });
}

void CiqArrival::erase(SubscriptionId id) {
  for_each_cell(state_.subscriptions[id].at, [&](CellPath path, const QuadCell&) {
    for (const Token token : state_.subscriptions.tokens(id)) remove(key_of(path, token), id);
  });
}

void CiqArrival::add(std::uint64_t key, const Entry& entry) {
  const std::uint32_t number = numbers_.give(key);
  if (number >= lists_.size()) lists_.resize(number + 1);
  entries_.insert(lists_[number], entry);
  ++size_;
}

void CiqArrival::remove(std::uint64_t key, SubscriptionId id) {
  const std::uint32_t number = numbers_.find(key);
  ensure(number != KeyNumbers::kNone, "ciq: a list is missing");
  ensure(entries_.erase(lists_[number], raw(id)), "ciq: an entry is missing");
  --size_;
  if (lists_[number].size == 0) numbers_.take_back(number);
}

void CiqArrival::threshold_changed(SubscriptionId id, Units) {
  const Needs needs(state_.subscriptions[id].alpha, state_.buffers.threshold(id));
  rows_[raw(id)] = {needs.score, needs.alpha};
}

void CiqArrival::find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) {
  newcomer_.read(state_, message);
  candidates_.clear();
  CellPath path = 1;
  QuadCell cell = kWorldCell;
  for (std::uint32_t depth = 0; depth < divisions_; ++depth) {
    const Quadrant quadrant = quadrant_of(cell, newcomer_.at);
    path = path << 2 | quadrant;
    cell = cell.child(quadrant);
    merge(path, work);
  }
  verify(state_, message, candidates_, out, work);
}

void CiqArrival::merge(CellPath cell, WorkCounters& work) {
  cursors_.clear();
  blocks_.clear();
  for (std::size_t i = 0; i < newcomer_.size(); ++i) {
    const std::uint32_t number = numbers_.find(key_of(cell, newcomer_.terms[i].token));
    if (number == KeyNumbers::kNone) continue;
    const std::size_t first = blocks_.size();
    entries_.for_each_block(lists_[number],
                            [&](std::span<const Entry> block) { blocks_.push_back(block); });
    const std::span<const Entry> block = blocks_[first];
    cursors_.push_back({block.data(), block.data() + block.size(), first + 1, blocks_.size(),
                        newcomer_.terms[i].weight});
  }
  work.nodes_visited += cursors_.size();
  while (!cursors_.empty()) {
    SubscriptionId next = cursors_.front().entry->id;
    for (const Cursor& cursor : cursors_) next = std::min(next, cursor.entry->id, is_smaller);
    double text = 0;
    float nearness = 0;
    for (std::size_t i = 0; i < cursors_.size();) {
      Cursor& cursor = cursors_[i];
      if (cursor.entry->id == next) {
        text += cursor.weight * cursor.entry->weight;
        nearness = cursor.entry->nearness;
        if (++cursor.entry == cursor.end && cursor.next < cursor.last) {
          const std::span<const Entry> block = blocks_[cursor.next++];
          cursor.entry = block.data();
          cursor.end = block.data() + block.size();
        } else if (cursor.entry == cursor.end) {
          cursor = cursors_.back();
          cursors_.pop_back();
          continue;
        }
      }
      ++i;
    }
    ++work.candidates;
    const Row& row = rows_[raw(next)];
    if (text >= row.score - double{row.alpha} * nearness) candidates_.push_back(next);
  }
}

void CiqArrival::clear() {
  rows_.clear();
  numbers_.clear();
  lists_.clear();
  entries_ = {};
  size_ = 0;
}

std::size_t CiqArrival::memory_bytes() const {
  return rows_.memory_bytes() + numbers_.memory_bytes() + lists_.memory_bytes() +
         entries_.memory_bytes();
}

void CiqArrival::check_invariants() const {
  std::size_t filed = 0;
  for (const BlockList& list : lists_) {
    entries_.check(list);
    filed += list.size;
  }
  ensure(filed == size_, "ciq: entries are miscounted");
  state_.subscriptions.for_each([&](SubscriptionId id) {
    const Needs needs(state_.subscriptions[id].alpha, state_.buffers.threshold(id));
    ensure(rows_[raw(id)].score == needs.score, "ciq: a threshold is an old one");
  });
}

}  // namespace nearcast
