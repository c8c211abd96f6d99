#include "nearcast/topk/arrival/igpt/cell_files.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast::igpt {
namespace {

constexpr float kNoNeed = std::numeric_limits<float>::infinity();

double distance_to_border(const Rect& bounds, Point at) {
  return std::max(0.0, std::min({at.lon - bounds.west, bounds.east - at.lon, at.lat - bounds.south,
                                 bounds.north - at.lat}));
}

}  // namespace

// ---- cells ------------------------------------------------------------------------------------

void CellFiles::created(QuadNodeId node, QuadNodeId, const QuadCell& cell) {
  if (raw(node) >= cells_.size()) cells_.resize(raw(node) + 1);
  cells_[raw(node)] = {cell.bounds(), {}, kNoNeed, false};
}

void CellFiles::attach(QuadNodeId node, const Item& item) {
  Cell& cell = cells_[raw(node)];
  Row& row = table_[item.entry];
  row.cell = node;
  row.place = cell.members.size;
  // A thousandth of a millionth less: the subtractions above have been rounded.
  row.inner = rounded_down(distance_to_border(cell.bounds, state_.subscriptions[item.entry].at) /
                           state_.max_distance * (1 - 1e-9));
  const float nearness = table_.needs(item.entry).nearness;
  members_.push_back(cell.members, {item.entry, nearness});
  cell.nearness = std::min(cell.nearness, nearness);
  file(item.entry);
}

void CellFiles::detach(QuadNodeId node, const Item& item) {
  unfile(item.entry);
  Cell& cell = cells_[raw(node)];
  const std::uint32_t place = table_[item.entry].place;
  members_.swap_remove(cell.members, place);
  if (place < cell.members.size) table_[members_.view(cell.members)[place].id].place = place;
  cell.may_have_risen = true;
}

void CellFiles::take_all(QuadNodeId node, std::vector<Item>& out) {
  Cell& cell = cells_[raw(node)];
  for (const Member& member : members_.view(cell.members)) {
    const Point at = state_.subscriptions[member.id].at;
    out.push_back({member.id, {at.lon, at.lat, at.lon, at.lat}});
    for (const Token token : state_.subscriptions.tokens(member.id)) {
      const std::uint32_t list = find(raw(node), token);
      if (list != kNone) drop_list(list);
    }
  }
  members_.release(cell.members);
  cell.nearness = kNoNeed;
  cell.may_have_risen = false;
}

float CellFiles::least_nearness(std::size_t node) {
  Cell& cell = cells_[node];
  if (cell.may_have_risen) {
    cell.nearness = kNoNeed;
    for (const Member& member : members_.view(cell.members))
      cell.nearness = std::min(cell.nearness, member.nearness);
    cell.may_have_risen = false;
  }
  return cell.nearness;
}

void CellFiles::set_needs(SubscriptionId id, const Needs& needs) {
  unfile(id);
  table_[id].score = needs.score;
  file(id);
  Cell& cell = cells_[raw(table_[id].cell)];
  float& nearness = members_.view(cell.members)[table_[id].place].nearness;
  cell.may_have_risen |= nearness <= cell.nearness && needs.nearness > nearness;
  nearness = needs.nearness;
  cell.nearness = std::min(cell.nearness, nearness);
}

// ---- inverted files ---------------------------------------------------------------------------

Entry CellFiles::entry_of(SubscriptionId id, std::uint32_t term) const {
  Entry entry{};
  entry.id = id;
  entry.term = term;
  entry.score = table_[id].score;
  entry.group = groups_.group_of(alpha_of(id)) & 0xF;
  return entry;
}

void CellFiles::drop_list(std::uint32_t number) {
  entries_.release(lists_[number]);
  numbers_.take_back(number);
}

void CellFiles::file(SubscriptionId id) {
  const Row& row = table_[id];
  for (std::uint32_t i = 0; i < row.term_count; ++i) {
    const std::uint32_t number = numbers_.give(key_of(raw(row.cell), table_.token(id, i)));
    if (number >= lists_.size()) lists_.resize(number + 1);
    entries_.add(lists_[number], entry_of(id, row.terms + i));
  }
}

void CellFiles::unfile(SubscriptionId id) {
  const Row& row = table_[id];
  for (std::uint32_t i = 0; i < row.term_count; ++i) {
    const std::uint32_t number = find(raw(row.cell), table_.token(id, i));
    ensure(number != kNone, "igpt: a list is missing");
    entries_.remove(lists_[number], entry_of(id, row.terms + i));
    if (lists_[number].size == 0) drop_list(number);
  }
}

void CellFiles::regroup_if_outgrown() {
  if (!groups_.is_outgrown()) return;
  groups_.draw();
  clear_lists();
  for (const Cell& cell : cells_) {
    for (const Member& member : members_.view(cell.members)) file(member.id);
  }
}

void CellFiles::clear_lists() {
  entries_.clear();
  numbers_.clear();
  lists_.clear();
}

void CellFiles::clear() {
  groups_ = AlphaGroups(groups_.size());
  cells_.clear();
  members_ = {};
  clear_lists();
}

std::size_t CellFiles::memory_bytes() const {
  return cells_.memory_bytes() + members_.memory_bytes() + numbers_.memory_bytes() +
         lists_.memory_bytes() + entries_.memory_bytes();
}

void CellFiles::check_invariants() const {
  std::size_t filed = 0, wanted = 0;
  for (const ListHandle& list : lists_) {
    entries_.check(list);
    filed += list.size;
  }
  for (const Cell& cell : cells_) {
    std::uint32_t place = 0;
    for (const Member& member : members_.view(cell.members)) {
      ensure(table_[member.id].place == place++, "igpt: a member is somewhere else");
      ensure(cell.nearness <= member.nearness, "igpt: a cell asks for too much nearness");
      ensure(member.nearness == table_.needs(member.id).nearness, "igpt: a need is an old one");
      wanted += table_[member.id].term_count;
    }
  }
  ensure(filed == wanted, "igpt: entries are missing or left over");
}

}  // namespace nearcast::igpt
