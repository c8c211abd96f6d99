#include "nearcast/topk/arrival/igpt/cell_files.h"

#include <algorithm>
#include <cmath>

#include "nearcast/base/errors.h"

namespace nearcast::igpt {
namespace {

constexpr float kNoNeed = std::numeric_limits<float>::infinity();

double distance_to_border(const Rect& bounds, Point at) {
  return std::max(0.0, std::min({at.lon - bounds.west, bounds.east - at.lon, at.lat - bounds.south,
                                 bounds.north - at.lat}));
}

/// The nearness that a subscription needs in its cell.
float nearness_in(const Needs& needs) { return std::isinf(needs.score) ? kNoNeed : needs.nearness; }

}  // namespace

// ---- cells ------------------------------------------------------------------------------------

void CellFiles::created(QuadNodeId node, QuadNodeId, const QuadCell& cell) {
  if (raw(node) >= cells_.size()) cells_.resize(raw(node) + 1);
  boxes_.resize((cells_.size() + CellBlock::kSize - 1) / CellBlock::kSize);
  const Rect bounds = cell.bounds();
  cells_[raw(node)] = {bounds, {}, false};
  CellBlock& box = boxes_[raw(node) / CellBlock::kSize];
  const std::uint32_t lane = raw(node) % CellBlock::kSize;
  box.west[lane] = rounded_down(bounds.west);
  box.east[lane] = rounded_up(bounds.east);
  box.south[lane] = rounded_down(bounds.south);
  box.north[lane] = rounded_up(bounds.north);
  box.nearness[lane] = kNoNeed;
}

void CellFiles::attach(QuadNodeId node, const Item& item) {
  Cell& cell = cells_[raw(node)];
  Row& row = table_[item.entry];
  row.cell = node;
  row.place = cell.members.size;
  // A thousandth of a millionth less: the subtractions above have been rounded.
  const float inner =
      rounded_down(distance_to_border(cell.bounds, state_.subscriptions[item.entry].at) /
                   state_.max_distance * (1 - 1e-9));
  for (Term& term : table_.terms(item.entry)) term.inner = inner;
  const float nearness = nearness_in(table_.needs(item.entry));
  members_.push_back(cell.members, {item.entry, nearness});
  nearness_of(node) = std::min(nearness_of(node), nearness);
  file(item.entry);
}

void CellFiles::detach(QuadNodeId node, const Item& item) {
  unfile(item.entry);
  Cell& cell = cells_[raw(node)];
  const std::uint32_t place = table_[item.entry].place;
  members_.swap_remove(cell.members, place);
  if (place < cell.members.size) table_[members_.view(cell.members)[place].id].place = place;
  if (!cell.may_have_risen) risen_.push_back(node);
  cell.may_have_risen = true;
}

void CellFiles::take_all(QuadNodeId node, std::vector<Item>& out) {
  Cell& cell = cells_[raw(node)];
  for (const Member& member : members_.view(cell.members)) {
    const Point at = state_.subscriptions[member.id].at;
    out.push_back({member.id, {at.lon, at.lat, at.lon, at.lat}});
    unfile(member.id);
  }
  members_.release(cell.members);
  nearness_of(node) = kNoNeed;
}

void CellFiles::refresh_cells() {
  for (const QuadNodeId node : risen_) {
    Cell& cell = cells_[raw(node)];
    float least = kNoNeed;
    for (const Member& member : members_.view(cell.members))
      least = std::min(least, member.nearness);
    nearness_of(node) = least;
    cell.may_have_risen = false;
  }
  risen_.clear();
}

void CellFiles::set_needs(SubscriptionId id) {
  const Needs needs = table_.needs(id);
  const Row& row = table_[id];
  for (std::uint32_t i = 0; i < row.term_count; ++i) {
    const std::uint32_t position = row.terms + i;
    const std::uint32_t group = table_.term(position).group;
    Group& own = groups_[group];
    if (own.size > 1) entries_.remove(own.entries, position);
    table_.term(position).score = needs.score;
    if (own.size > 1) entries_.add(own.entries, position);
    show(group);
  }
  Cell& cell = cells_[raw(row.cell)];
  float& own = members_.view(cell.members)[row.place].nearness;
  float& least = nearness_of(row.cell);
  const float nearness = nearness_in(needs);
  if (own <= least && nearness > own && !cell.may_have_risen) {
    risen_.push_back(row.cell);
    cell.may_have_risen = true;
  }
  own = nearness;
  least = std::min(least, nearness);
}

// ---- inverted files ---------------------------------------------------------------------------

/// The scan computes with short numbers: a millionth is more than their rounding.
Slot CellFiles::slot_of(std::uint32_t group, const Entry& first) const {
  const double room = 1e-6 * (std::fabs(double{first.score}) + first.alpha);
  const auto up = [](float value) { return rounded_up(value * (1 + 1e-6)); };
  return {rounded_down(first.score - room),
          first.alpha,
          up(first.weight),
          up(first.weight_sum),
          cell_of(numbers_.key(group)),
          groups_[group].size > 1 ? Slot::kMany | group : first.term};
}

/// Write the first entry of a group of many, or the only one, into the columns.
void CellFiles::show(std::uint32_t group) {
  const Group& own = groups_[group];
  const Token token = token_of(numbers_.key(group));
  const Entry first = own.size > 1 ? entries_.view(own.entries).front()
                                   : Entry::of(table_, columns_.at(token, own.place).filed);
  columns_.set(token, own.place, slot_of(group, first));
}

void CellFiles::add_term(std::uint32_t group, std::uint32_t term) {
  const Token token = token_of(numbers_.key(group));
  if (group >= groups_.size()) groups_.resize(group + 1);
  ensure(group < Slot::kMany && term < Slot::kMany, "igpt: more than 2^31 entries");
  table_.term(term).group = group;
  Group& own = groups_[group];
  if (++own.size == 1) {
    own.place = columns_.add(token, slot_of(group, Entry::of(table_, term)));
    return;
  }
  if (own.size == 2) entries_.add(own.entries, columns_.at(token, own.place).filed);
  entries_.add(own.entries, term);
  show(group);
}

void CellFiles::remove_term(std::uint32_t term) {
  const std::uint32_t group = table_.term(term).group;
  Group& own = groups_[group];
  if (--own.size == 0) {
    remove_group(group);
    return;
  }
  entries_.remove(own.entries, term);
  const Entry first = entries_.view(own.entries).front();
  if (own.size == 1) entries_.release(own.entries);
  columns_.set(token_of(numbers_.key(group)), own.place, slot_of(group, first));
}

void CellFiles::remove_group(std::uint32_t group) {
  const Token token = token_of(numbers_.key(group));
  const std::uint32_t place = groups_[group].place;
  const std::uint32_t moved = columns_.remove(token, place).filed;
  const bool is_many = (moved & Slot::kMany) != 0;
  groups_[is_many ? moved & ~Slot::kMany : table_.term(moved).group].place = place;
  numbers_.take_back(group);
}

void CellFiles::file(SubscriptionId id) {
  const Row& row = table_[id];
  const std::uint32_t alpha = alphas_.group_of(alpha_of(id));
  for (std::uint32_t i = 0; i < row.term_count; ++i)
    add_term(numbers_.give(key_of(table_.token(id, i), row.cell, alpha)), row.terms + i);
}

void CellFiles::unfile(SubscriptionId id) {
  const Row& row = table_[id];
  for (std::uint32_t i = 0; i < row.term_count; ++i) remove_term(row.terms + i);
}

void CellFiles::regroup_if_outgrown() {
  if (!alphas_.is_outgrown()) return;
  alphas_.draw();
  clear_groups();
  for (const Cell& cell : cells_) {
    for (const Member& member : members_.view(cell.members)) file(member.id);
  }
}

void CellFiles::clear_groups() {
  columns_.clear();
  entries_.clear();
  numbers_.clear();
  groups_.clear();
}

void CellFiles::clear() {
  alphas_ = AlphaGroups(alphas_.size());
  cells_.clear();
  boxes_.clear();
  risen_.clear();
  members_ = {};
  clear_groups();
}

std::size_t CellFiles::memory_bytes() const {
  return cells_.memory_bytes() + boxes_.memory_bytes() + members_.memory_bytes() +
         numbers_.memory_bytes() + groups_.memory_bytes() + columns_.memory_bytes() +
         entries_.memory_bytes();
}

void CellFiles::check_invariants() const {
  std::size_t filed = 0, wanted = 0;
  for (std::uint32_t number = 0; number < groups_.size(); ++number) {
    const Group& group = groups_[number];
    filed += group.size;
    if (group.size == 0) continue;
    ensure(group.entries.size == (group.size > 1 ? group.size : 0), "igpt: a group is miscounted");
    entries_.check(group.entries);
    const Slot shown = columns_.at(token_of(numbers_.key(number)), group.place);
    const Entry first =
        group.size > 1 ? entries_.view(group.entries).front() : Entry::of(table_, shown.filed);
    ensure(shown == slot_of(number, first), "igpt: a group is not what the columns say");
    ensure(table_.term(first.term).group == number, "igpt: a term is filed somewhere else");
  }
  for (std::uint32_t node = 0; node < cells_.size(); ++node) {
    const float least = boxes_[node / CellBlock::kSize].nearness[node % CellBlock::kSize];
    std::uint32_t place = 0;
    for (const Member& member : members_.view(cells_[node].members)) {
      ensure(table_[member.id].place == place++, "igpt: a member is somewhere else");
      ensure(least <= member.nearness, "igpt: a cell asks for too much nearness");
      const Needs needs = table_.needs(member.id);
      ensure(member.nearness == nearness_in(needs), "igpt: a need is an old one");
      ensure(table_.term(table_[member.id].terms).score == needs.score, "igpt: an old threshold");
      wanted += table_[member.id].term_count;
    }
  }
  ensure(filed == wanted, "igpt: entries are missing or left over");
}

}  // namespace nearcast::igpt
