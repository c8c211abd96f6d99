/// A newcomer's way through the index. [Skype §5.4, Alg. 1]
#include <algorithm>
#include <cmath>

#include "nearcast/topk/arrival/igpt/igpt_arrival.h"

namespace nearcast {
namespace {

using igpt::Entry;

bool is_strictly_inside(const Rect& bounds, Point at) {
  return at.lon > bounds.west && at.lon < bounds.east && at.lat > bounds.south &&
         at.lat < bounds.north;
}

constexpr double kRounding = 1e-12;  ///< more than that of a few operations on numbers around 1

}  // namespace

void IgptArrival::find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) {
  newcomer_.read(state_, message);
  nearby_.clear();
  lookups_.clear();
  candidates_.clear();
  seen_.start(state_.subscriptions.slots());
  choose_cells(work);
  look_up(work);
  constexpr std::size_t kFar = 16, kNear = 8;
  const igpt::CellFiles& files = forest_.content();
  for (std::size_t i = 0; i < lookups_.size(); ++i) {
    if (i + kFar < lookups_.size()) files.prefetch_list(lookups_[i + kFar].list);
    if (i + kNear < lookups_.size()) files.prefetch_entries(lookups_[i + kNear].list);
    search(lookups_[i], work);
  }
  verify(state_, message, candidates_, out);
}

/// Lines 4–7: cells that are near enough for some subscription. [Skype §5.2.3 Lemma 6]
void IgptArrival::choose_cells(WorkCounters& work) {
  igpt::CellFiles& files = forest_.content();
  for (std::size_t node = 0; node < files.slots(); ++node) {
    const igpt::CellFiles::Cell& cell = files[node];
    if (cell.members.size == 0) continue;
    ++work.nodes_visited;
    const double lost = distance_to(cell.bounds, newcomer_.at) / state_.max_distance;
    const double outer = 1 - lost * (1 - kRounding) + kRounding;
    if (prunes_groups_ && files.least_nearness(node) > std::max(outer, 0.0)) continue;
    nearby_.push_back(
        {static_cast<std::uint32_t>(node), is_strictly_inside(cell.bounds, newcomer_.at), outer});
  }
}

/// Lines 8–9: the lists of the newcomer's tokens.
void IgptArrival::look_up(WorkCounters& work) {
  const igpt::CellFiles& files = forest_.content();
  constexpr std::size_t kAhead = 2;
  const auto prefetch = [&](std::size_t cell) {
    if (cell >= nearby_.size()) return;
    for (std::uint32_t term = 0; term < newcomer_.size(); ++term)
      files.prefetch(nearby_[cell].node, newcomer_.terms[term].token);
  };
  for (std::size_t ahead = 0; ahead < kAhead; ++ahead) prefetch(ahead);
  for (std::uint32_t cell = 0; cell < nearby_.size(); ++cell) {
    prefetch(cell + kAhead);
    for (std::uint32_t term = 0; term < newcomer_.size(); ++term) {
      const std::uint32_t list = files.find(nearby_[cell].node, newcomer_.terms[term].token);
      if (list != igpt::CellFiles::kNone) lookups_.push_back({list, cell, term});
    }
  }
  work.nodes_visited += lookups_.size();
}

/// Lines 10–28, for one list.
void IgptArrival::search(const Lookup& lookup, WorkCounters& work) {
  const std::span<const Entry> all = forest_.content().entries(lookup.list);
  const double outer = std::max(nearby_[lookup.cell].outer, 0.0);
  const double text = newcomer_.terms[lookup.term].weight_sum + kRounding;
  const auto is_out_from_here = [&](const Entry& entry) {
    return entry.weight * text < entry.score - entry.alpha * outer;
  };
  for (std::size_t start = 0; start < all.size();) {
    const std::size_t size = all[start].left;
    const Entry* const first = &all[start];
    const Entry* last = first + size;
    start += size;
    if (prunes_groups_) {
      if (is_out_from_here(*first)) continue;  // Theorem 3
      last = std::partition_point(first + 1, last, [&](const Entry& entry) {
        return !is_out_from_here(entry);
      });  // Theorem 4
    }
    work.candidates += static_cast<std::uint64_t>(last - first);
    for (const Entry* entry = first; entry != last; ++entry) {
      if (may_concern(*entry, lookup) && seen_.first_visit(raw(entry->id)))
        candidates_.push_back(entry->id);
    }
  }
}

/// If the list's token is the first that both have. [Skype §5.1 Theorems 1 and 2]
bool IgptArrival::may_concern(const Entry& entry, const Lookup& lookup) const {
  const igpt::Row& row = table_[entry.id];
  const Nearby& cell = nearby_[lookup.cell];
  const double nearness = cell.is_inside ? 1 : std::max(cell.outer - row.inner, 0.0);
  const double needed = row.score - row.alpha * nearness - kRounding;
  const Newcomer::Term& said = newcomer_.terms[lookup.term];
  const Newcomer::Term& said_behind = newcomer_.terms[lookup.term + 1];
  const igpt::Term& wanted = table_.term(entry.term);
  if (said.max_weight * wanted.weight_sum < needed) return false;
  double unseen = 0;
  if (entry.term + 1 < row.terms + row.term_count) {
    const igpt::Term& wanted_behind = table_.term(entry.term + 1);
    unseen = std::min(wanted_behind.weight_sum * said_behind.max_weight,
                      said_behind.weight_sum * wanted_behind.max_weight);
  }
  return wanted.weight * said.weight + unseen >= needed;
}

}  // namespace nearcast
