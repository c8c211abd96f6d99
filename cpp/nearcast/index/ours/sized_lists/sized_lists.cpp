#include "nearcast/index/ours/sized_lists/sized_lists.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/base/prefetch.h"

namespace nearcast {

using sized_lists::Entry;
using sized_lists::is_time_to_refit;
using sized_lists::kSmallLimit;

/// A range that holds so much less of all numbers than an area of all places is worth lists of its
/// own, which a message looks for.
constexpr double kWorthIt = 4;

SizedLists::SizedLists(const SubscriptionStore& store, const Parameters& parameters)
    : MatchIndex(store),
      uses_avx2_(sized_lists::may_use_avx2(parameters.word("kernels"))),
      lists_(static_cast<std::uint32_t>(parameters.count("small_list"))) {}

std::vector<ParameterSpec> SizedLists::parameters() {
  return {
      choice("kernels", {"best", "plain"}, "vector instructions of this machine, or none"),
      whole("small_list", kSmallLimit, 4, kSmallLimit, "a list of more entries becomes a tree")};
}

void SizedLists::count(const Clause& clause, int step) {
  for (const Token token : clause.positive) {
    if (frequencies_.size() <= raw(token)) frequencies_.resize(raw(token) + 1);
    frequencies_[raw(token)] += static_cast<std::uint32_t>(step);
  }
}

SizedLists::Choice SizedLists::choose(const Clause& clause) const {
  Token first = kUnknownToken, second = kUnknownToken;
  std::uint32_t least = ~0u, next = ~0u;
  for (const Token token : clause.positive) {
    const std::uint32_t frequency = frequencies_[raw(token)];
    if (first == kUnknownToken || frequency < least) {
      second = first, next = least;
      first = token, least = frequency;
    } else if (second == kUnknownToken || frequency < next) {
      second = token, next = frequency;
    }
  }
  return {first == kUnknownToken ? 0 : raw(first) + 1, second};
}

SizedLists::Plane SizedLists::plane_of(SubscriptionId id) const {
  Plane best = area_plane(id);
  if (conditions_ == nullptr || !conditions_->has(id)) return best;
  std::vector<NumberRange> ranges;
  conditions_->ranges(id, ranges);
  const sized_lists::CellBox box = best.box;
  constexpr double kCells = sized_lists::kLastCell + 1.0;
  double least = (box.east - box.west + 1.0) / kCells * ((box.north - box.south + 1.0) / kCells);
  if (store_.area_kind(id) != AreaKind::kAnywhere) least /= kWorthIt;
  for (const NumberRange& range : ranges) {
    const double share = ranges_.share(range);
    if (share >= least) continue;
    least = share;
    best = {range.name, ranges_.box(range)};
  }
  return best;
}

Entry SizedLists::entry_for(EntryId id, Token second, const Plane& plane) const {
  ensure((raw(id) & sized_lists::kProvenBit) == 0,
         "sized-lists: there are more entries than it can number");
  const SubscriptionId owner = store_.owner(id);
  sized_lists::Signature signature = sized_lists::kAsk;
  if (second != kUnknownToken) {
    signature = sized_lists::signature_of(second);
  } else if (store_.clause(id).negative.empty() && store_.is_only_clause(id) &&
             (plane.is_ranged() ? store_.area_kind(owner) == AreaKind::kAnywhere
                                : store_.bounds_are_exact(owner))) {
    signature = sized_lists::kProven;
  }
  return {plane.box, signature, id};
}

// ---- one by one -------------------------------------------------------------------------------

void SizedLists::insert(SubscriptionId id) {
  const std::uint64_t before = entries_;
  add_entries(id);
  if (is_time_to_refit(before, entries_)) rebuild();
}

void SizedLists::build(std::span<const SubscriptionId> ids) {
  const std::uint64_t before = entries_;
  if (ids.size() < before) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      approach(ids, i);
      add_entries(ids[i]);
    }
    // After the loop: a rebuild takes everything from the store, also what the loop has yet to add.
    if (!is_time_to_refit(before, entries_)) return;
  }
  rebuild();
}

/// In steps, each of which reads what the step before it has prefetched.
void SizedLists::approach(std::span<const SubscriptionId> ids, std::size_t i) const {
  const auto visit = [&](std::size_t ahead, auto&& step) {
    if (i + ahead < ids.size()) step(EntryId{raw(ids[i + ahead])});
  };
  visit(16, [&](EntryId entry) { store_.prefetch(entry, 0); });
  visit(12, [&](EntryId entry) { store_.prefetch(entry, 1); });
  visit(8, [&](EntryId entry) {
    for (const Token token : store_.clause(entry).positive) {
      prefetch_line(frequencies_.data() + raw(token));
      lists_.prefetch(raw(token) + 1);
    }
  });
  visit(4, [&](EntryId entry) {
    const Clause clause = store_.clause(entry);
    for (const Token token : clause.positive) {
      if (raw(token) >= frequencies_.size()) return;
    }
    lists_.prefetch_entries(choose(clause).list);
  });
}

void SizedLists::add_entries(SubscriptionId id) {
  const Plane plane = plane_of(id);
  bool is_time_to_fit = false;
  store_.for_each_entry(id, [&](EntryId entry) {
    count(store_.clause(entry), +1);
    const Choice choice = choose(store_.clause(entry));
    const Entry made = entry_for(entry, choice.second, plane);
    if (plane.is_ranged()) {
      is_time_to_fit |= ranges_.add({choice.list, plane.name, made}, lists_);
    } else {
      lists_.add(choice.list, made);
    }
    ++entries_;
  });
  if (is_time_to_fit) fit_axis(plane.name);
}

void SizedLists::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    erase_entry(entry);
    count(store_.clause(entry), -1);
    --entries_;
  });
}

bool SizedLists::remove(std::uint32_t list, const Plane& plane, const Entry& entry) {
  return plane.is_ranged() ? ranges_.remove({list, plane.name, entry}, lists_)
                           : lists_.remove(list, entry);
}

bool SizedLists::has(std::uint32_t list, const Plane& plane, const Entry& entry) const {
  if (!plane.is_ranged()) return lists_.has(list, entry);
  const sized_lists::Head* head = ranges_.find(list, plane.name);
  return head != nullptr && lists_.has(*head, entry);
}

void SizedLists::erase_entry(EntryId id) {
  const Clause clause = store_.clause(id);
  const Choice choice = choose(clause);
  const SubscriptionId owner = store_.owner(id);
  const Plane plane = plane_of(owner);
  if (remove(choice.list, plane, entry_for(id, choice.second, plane))) return;
  // Frequencies have changed since the entry was inserted, or axes: it is filed under another
  // keyword or in another plane.
  bool is_found = false;
  for_each_plane(owner, [&](const Plane& other) {
    const Entry entry = entry_for(id, choice.second, other);
    if (clause.positive.empty()) is_found = is_found || remove(0, other, entry);
    for (const Token token : clause.positive)
      is_found = is_found || remove(raw(token) + 1, other, entry);
  });
  if (!is_found) broken("sized-lists: an entry is in none of its lists");
}

/// Chooses the cells of an attribute's numbers anew, and files what is filed by it again.
void SizedLists::fit_axis(Token name) {
  std::vector<sized_lists::RangeLists::Filed> all = ranges_.take_all(name, lists_);
  std::vector<NumberRange> ranges;
  const auto range_of = [&](const Entry& entry) {
    ranges.clear();
    conditions_->ranges(store_.owner(entry.id), ranges);
    return *std::find_if(ranges.begin(), ranges.end(),
                         [&](const NumberRange& range) { return range.name == name; });
  };
  std::vector<double> ends;
  for (const auto& filed : all) sized_lists::append_ends(range_of(filed.entry), ends);
  ranges_.fit(name, ends);
  for (auto& filed : all) filed.entry.box = ranges_.box(range_of(filed.entry));
  ranges_.fill(all, lists_);
}

// ---- the whole --------------------------------------------------------------------------------

std::size_t SizedLists::memory_bytes() const {
  return frequencies_.memory_bytes() + lists_.memory_bytes() + ranges_.memory_bytes();
}

void SizedLists::check_invariants() const {
  std::uint64_t entries = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      const Clause clause = store_.clause(entry);
      std::uint32_t found = 0;
      for_each_plane(id, [&](const Plane& plane) {
        const Entry expected = entry_for(entry, kUnknownToken, plane);
        if (clause.positive.empty()) found += has(0, plane, expected);
        for (const Token token : clause.positive) found += has(raw(token) + 1, plane, expected);
      });
      ensure(found == 1, "sized-lists: an entry is not in exactly one of its lists");
    });
  });
  std::uint64_t listed = lists_.check_invariants();
  ranges_.for_each([&](std::uint32_t, Token, const sized_lists::Head& head) {
    listed += lists_.check_invariants(head);
  });
  ensure(entries == entries_ && listed == entries_,
         "sized-lists: lists hold another number of entries than there are");
}

void SizedLists::save(ArchiveWriter& out) const {
  out.value(entries_);
  out.value(frame_);
  frequencies_.save(out);
  lists_.save(out);
  ranges_.save(out);
}

void SizedLists::load(ArchiveReader& in) {
  entries_ = in.value<std::uint64_t>();
  frame_ = in.value<sized_lists::Frame>();
  frequencies_.load(in);
  lists_.load(in);
  ranges_.load(in);
  if (in.is_checking()) check_loaded();
}

}  // namespace nearcast
