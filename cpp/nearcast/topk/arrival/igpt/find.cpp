/// The search of the index for a newcomer. [Skype §5.4, Alg. 1]
#include <algorithm>
#include <cmath>

#include "nearcast/topk/arrival/igpt/igpt_arrival.h"

namespace nearcast {
namespace {

using igpt::GroupBlock;
using igpt::Slot;

constexpr double kRounding = 1e-12;  ///< more than that of a few operations on numbers around 1

}  // namespace

void IgptArrival::find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) {
  newcomer_.read(state_, message);
  groups_.clear();
  entries_.clear();
  passed_.clear();
  candidates_.clear();
  for (const Newcomer::Term& term : newcomer_.terms)
    forest_.content().groups().prefetch(term.token);
  bound_cells(work);
  for (std::uint32_t term = 0; term < newcomer_.size(); ++term) skim(term, work);
  constexpr std::size_t kAhead = 8;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (i + kAhead < groups_.size()) forest_.content().prefetch_entries(groups_[i + kAhead].number);
    open(groups_[i]);
  }
  test_entries(work);
  test_nearness();
  verify(state_, message, candidates_, out, work);
}

/// Lines 4–7: how near can a subscription of each cell be? [Skype §5.1.2, §5.2.3 Lemma 6]
void IgptArrival::bound_cells(WorkCounters& work) {
  forest_.content().refresh_cells();
  const std::span<const igpt::CellBlock> cells = forest_.content().cells();
  nearness_.resize(cells.size() * igpt::CellBlock::kSize);
  scan_.nearness(cells, {newcomer_.at, state_.max_distance}, prunes_groups_, nearness_.data());
  work.nodes_visited += nearness_.size();
}

/// Lines 8–12: the groups of one token.
void IgptArrival::skim(std::uint32_t term, WorkCounters& work) {
  const igpt::CellFiles& files = forest_.content();
  const Token token = newcomer_.terms[term].token;
  const std::uint32_t size = files.groups().size(token);
  if (size == 0) return;
  ++work.nodes_visited;
  work.groups += size;
  const std::span<const GroupBlock> blocks = files.groups().blocks(token);
  if (places_.size() < size) places_.resize(size);
  std::uint32_t found = size;
  if (prunes_groups_) {  // Theorem 3
    const igpt::Said said{rounded_up(newcomer_.terms[term].weight_sum + kRounding),
                          rounded_up(newcomer_.terms[term].max_weight + kRounding)};
    found = scan_.groups(blocks.data(), size, nearness_.data(), said, places_.data());
  }
  for (std::uint32_t i = 0; i < found; ++i) {
    const std::uint32_t place = prunes_groups_ ? places_[i] : i;
    const GroupBlock& block = blocks[place / GroupBlock::kSize];
    const std::uint32_t lane = place % GroupBlock::kSize, filed = block.filed[lane];
    const float nearness = nearness_[block.cell[lane]];
    if ((filed & Slot::kMany) == 0) {
      entries_.push_back({filed, term, nearness});
    } else {
      files.prefetch_group(filed & ~Slot::kMany);
      groups_.push_back({filed & ~Slot::kMany, term, nearness});
    }
  }
}

/// Lines 13–16: the entries of a group, up to where all can be skipped.
void IgptArrival::open(const Met& group) {
  const std::span<const igpt::Entry> all = forest_.content().entries(group.number);
  const double sum = newcomer_.terms[group.term].weight_sum + kRounding;
  const double most = newcomer_.terms[group.term].max_weight + kRounding;
  auto end = all.end();
  if (prunes_groups_) {  // Theorem 4
    end = std::partition_point(all.begin(), end, [&](const igpt::Entry& entry) {
      const double text = std::min(entry.weight * sum, entry.weight_sum * most);
      return text >= entry.score - double{entry.alpha} * group.nearness;
    });
  }
  for (auto entry = all.begin(); entry != end; ++entry)
    entries_.push_back({entry->term, group.term, group.nearness});
}

/// Lines 17–28.
void IgptArrival::test_entries(WorkCounters& work) {
  constexpr std::size_t kAhead = 16;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (i + kAhead < entries_.size()) table_.prefetch_term(entries_[i + kAhead].number);
    const double text = text_bound(entries_[i]);
    if (text < 0) continue;
    passed_.push_back({table_.term(entries_[i].number).id, text});
    state_.subscriptions.prefetch(passed_.back().id);
  }
  work.candidates += entries_.size();
}

/// The most text in common, if the list's token is the first that both have; negative if that is
/// too little. [Skype §5.1 Theorems 1 and 2]
double IgptArrival::text_bound(const Met& entry) const {
  const igpt::Term& wanted = table_.term(entry.number);
  // Known are the distance from the newcomer to the cell's border, and from there to the
  // subscription.
  const double nearness =
      entry.nearness >= igpt::kNearest ? 1 : std::max(double{entry.nearness} - wanted.inner, 0.0);
  const double needed = wanted.score - wanted.alpha * nearness - kRounding;
  const Newcomer::Term& said = newcomer_.terms[entry.term];
  const Newcomer::Term& said_behind = newcomer_.terms[entry.term + 1];
  if (said.max_weight * wanted.weight_sum() < needed) return -1;
  const double unseen = std::min(wanted.behind_sum * said_behind.max_weight,
                                 said_behind.weight_sum * wanted.behind_max);
  const double text = wanted.weight * said.weight + unseen;
  return text < needed ? -1 : text;
}

/// Line 29: the exact distance rules out most of what passed. A subscription whose buffer the
/// newcomer enters passes at least once, at the first common token, where its bound holds.
void IgptArrival::test_nearness() {
  seen_.start(state_.subscriptions.slots());
  for (const Passed& passed : passed_) {
    const TopSubscriptions::Record& record = state_.subscriptions[passed.id];
    const double most = top_score(record.alpha, distance_between(record.at, newcomer_.at),
                                  state_.max_distance, passed.text, 1);
    // Half a unit less is rounded up to the threshold; another half is for rounding.
    if (most < (record.threshold - 1) * 1e-9) continue;
    candidates_.push_back(passed.id);
    state_.subscriptions.prefetch_tokens(passed.id);
    seen_.prefetch(raw(passed.id));
  }
  std::erase_if(candidates_, [&](SubscriptionId id) { return !seen_.first_visit(raw(id)); });
}

}  // namespace nearcast
