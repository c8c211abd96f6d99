#include "nearcast/index/papers/rt_tree/representatives.h"

#include <algorithm>
#include <utility>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

constexpr std::size_t kEnoughToFit = 1000;  // entries that show where all the others will be

Point centre(const Rect& box) { return {(box.west + box.east) / 2, (box.south + box.north) / 2}; }

std::size_t stripe(double at, double from, double to, std::size_t stripes) {
  if (!(at > from)) return 0;
  const double share = (at - from) / (to - from);
  return std::min(stripes - 1, static_cast<std::size_t>(share * static_cast<double>(stripes)));
}

}  // namespace

Representatives::Representatives(const SubscriptionStore& store, const Parameters& parameters)
    : store_(store) {
  const std::string& word = parameters.word("representative");
  const Strategy strategy = word == "locality" ? Strategy::kLocality
                            : word == "idf"    ? Strategy::kIdf
                            : word == "df"     ? Strategy::kDf
                                               : Strategy::kRandom;
  header_ = {strategy, static_cast<std::uint32_t>(parameters.count("grid")), 0, kWorld};
}

std::vector<ParameterSpec> Representatives::parameters() {
  return {
      choice("representative", {"locality", "idf", "df", "random"},
             "which keyword stands for a subscription: the rarest near it, the rarest, the most "
             "frequent, any"),
      whole("grid", 100, 1, 1000, "cells per side of the grid that locality counts in")};
}

void Representatives::admit(std::span<const EntryId> entries) {
  if (header_.entries == 0 && entries.size() >= kEnoughToFit) fit_frame(entries);
  // Count everything first: the rarest is then the rarest of the whole, not of what came before.
  for (const EntryId entry : by_cell(entries)) count(entry, +1);
  if (header_.strategy == Strategy::kDf && entries.size() > 1) {
    const std::vector<TokenKey> keys = choose_greedily(store_, entries);
    for (std::size_t i = 0; i < entries.size(); ++i) chosen_.set(entries[i], keys[i]);
    return;
  }
  for (const EntryId entry : entries) chosen_.set(entry, choose(entry));
}

/// One cell of the grid after the other, so that the memory which a growing table leaves is used by
/// the next one.
std::vector<EntryId> Representatives::by_cell(std::span<const EntryId> entries) const {
  std::vector<EntryId> ordered(entries.begin(), entries.end());
  if (header_.strategy != Strategy::kLocality || entries.size() == 1) return ordered;
  std::vector<std::pair<std::size_t, EntryId>> placed;
  for (const EntryId entry : entries) placed.emplace_back(cell_of(entry), entry);
  std::sort(placed.begin(), placed.end());
  for (std::size_t i = 0; i < placed.size(); ++i) ordered[i] = placed[i].second;
  return ordered;
}

void Representatives::count(EntryId entry, int step) {
  const bool is_local = header_.strategy == Strategy::kLocality;
  const std::size_t cell = is_local ? cell_of(entry) : 0;
  header_.entries += static_cast<std::uint64_t>(step);
  if (is_local && local_frequencies_.rows() <= cell) local_frequencies_.add_row(cell);
  nearcast::for_each_key(store_.clause(entry), [&](TokenKey key) {
    if (frequencies_.size() <= raw(key)) frequencies_.resize(raw(key) + 1);
    frequencies_[raw(key)] += static_cast<std::uint32_t>(step);
    if (!is_local) return;
    TokenTables::Cell& here = local_frequencies_.obtain(cell, key);
    here.value += static_cast<std::uint32_t>(step);
    if (here.value == 0) local_frequencies_.erase(cell, key);
  });
}

std::uint32_t Representatives::local_frequency(std::size_t cell, TokenKey key) const {
  const TokenTables::Cell* here = local_frequencies_.find(cell, key);
  return here == nullptr ? 0 : here->value;
}

TokenKey Representatives::choose(EntryId entry) const {
  const Clause clause = store_.clause(entry);
  const bool is_local = header_.strategy == Strategy::kLocality;
  const std::size_t cell = is_local ? cell_of(entry) : 0;
  const auto cost = [&](TokenKey key) -> std::pair<std::uint64_t, std::uint32_t> {
    switch (header_.strategy) {
      case Strategy::kLocality:
        return {local_frequency(cell, key), frequency(key)};
      case Strategy::kIdf:
        return {frequency(key), 0};
      case Strategy::kDf:
        return {~std::uint64_t{frequency(key)}, 0};
      case Strategy::kRandom:
        break;
    }
    return {hash_of(std::uint64_t{raw(entry)} << 32 | raw(key)), 0};
  };
  TokenKey best = kNoKey;
  std::pair<std::uint64_t, std::uint32_t> least;
  nearcast::for_each_key(clause, [&](TokenKey key) {
    const auto here = cost(key);
    if (best != kNoKey && here >= least) return;
    best = key;
    least = here;
  });
  return best;
}

std::size_t Representatives::cell_of(EntryId entry) const {
  const Point at = centre(store_.bounds(store_.owner(entry)));
  const Rect& frame = header_.frame;
  const std::size_t side = header_.cells_per_side;
  return stripe(at.lat, frame.south, frame.north, side) * side +
         stripe(at.lon, frame.west, frame.east, side);
}

void Representatives::fit_frame(std::span<const EntryId> entries) {
  Rect all = kNowhere;
  for (const EntryId entry : entries) {
    const Point at = centre(store_.bounds(store_.owner(entry)));
    all = join(all, {at.lon, at.lat, at.lon, at.lat});
  }
  header_.frame = all;
}

std::size_t Representatives::memory_bytes() const {
  return chosen_.memory_bytes() + frequencies_.memory_bytes() + local_frequencies_.memory_bytes();
}

void Representatives::check_invariants() const {
  std::vector<std::uint32_t> expected(frequencies_.size());
  std::uint64_t entries = 0, local = 0, all = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      bool has_chosen = false;
      nearcast::for_each_key(store_.clause(entry), [&](TokenKey key) {
        has_chosen = has_chosen || key == chosen_[entry];
        ensure(raw(key) < expected.size(), "Rt+-tree: a token was never counted");
        ++expected[raw(key)];
        ++all;
      });
      ensure(has_chosen, "Rt+-tree: an entry is represented by a token it does not have");
    });
  });
  ensure(entries == header_.entries, "Rt+-tree: the number of entries is wrong");
  ensure(std::equal(expected.begin(), expected.end(), frequencies_.begin()),
         "Rt+-tree: a token's frequency is wrong");
  if (header_.strategy != Strategy::kLocality) return;
  local_frequencies_.check_invariants("Rt+-tree, grid");
  for (std::size_t cell = 0; cell < local_frequencies_.rows(); ++cell) {
    local_frequencies_.for_each(cell, [&](const auto& here) { local += here.value; });
  }
  ensure(local == all, "Rt+-tree: frequencies in the grid do not add up");
}

}  // namespace nearcast
