#include "nearcast/index/auto/auto_index.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

using automatic::Entry;
using automatic::Head;
using automatic::kSmallLimit;

namespace {

/// Has an index that grows little by little reached a size at which it chooses its frame anew?
/// Later the frame is good enough.
bool is_time_to_refit(std::uint64_t before, std::uint64_t after) {
  return (before < 512 && after >= 512) || (before < 8192 && after >= 8192);
}

}  // namespace

AutoIndex::AutoIndex(const SubscriptionStore& store, const Parameters& parameters)
    : MatchIndex(store),
      uses_avx2_(false),
      small_limit_(static_cast<std::uint32_t>(parameters.count("small_list"))) {
#if NEARCAST_HAS_AVX2_KERNELS
  uses_avx2_ = parameters.word("kernels") == "best" && __builtin_cpu_supports("avx2");
#endif
}

std::vector<ParameterSpec> AutoIndex::parameters() {
  return {
      choice("kernels", {"best", "plain"}, "vector instructions of this machine, or none"),
      whole("small_list", kSmallLimit, 4, kSmallLimit, "a list of more entries becomes a tree")};
}

void AutoIndex::count(const Clause& clause, int step) {
  for (const Token token : clause.positive) {
    if (frequencies_.size() <= raw(token)) frequencies_.resize(raw(token) + 1);
    frequencies_[raw(token)] += static_cast<std::uint32_t>(step);
  }
}

AutoIndex::Choice AutoIndex::choose(const Clause& clause) const {
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

Entry AutoIndex::entry_for(EntryId id, Token second) const {
  ensure((raw(id) & automatic::kProvenBit) == 0, "auto: there are more entries than it can number");
  const SubscriptionId owner = store_.owner(id);
  automatic::Signature signature = automatic::kAsk;
  if (second != kUnknownToken) {
    signature = automatic::signature_of(second);
  } else if (store_.clause(id).negative.empty() && store_.is_only_clause(id) &&
             store_.bounds_are_exact(owner)) {
    signature = automatic::kProven;
  }
  return {frame_.cells(store_.bounds(owner)), signature, id};
}

// ---- one by one -------------------------------------------------------------------------------

void AutoIndex::insert(SubscriptionId id) {
  const std::uint64_t before = entries_;
  add_entries(id);
  if (is_time_to_refit(before, entries_)) rebuild();
}

void AutoIndex::build(std::span<const SubscriptionId> ids) {
  const std::uint64_t before = entries_;
  if (ids.size() < before) {
    for (const SubscriptionId id : ids) add_entries(id);
    // Only now: a rebuild takes everything from the store, also what this loop has yet to add.
    if (!is_time_to_refit(before, entries_)) return;
  }
  rebuild();
}

void AutoIndex::add_entries(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    count(store_.clause(entry), +1);
    const Choice choice = choose(store_.clause(entry));
    add(choice.list, entry_for(entry, choice.second));
    ++entries_;
  });
}

void AutoIndex::add(std::uint32_t list, const Entry& entry) {
  if (heads_.size() <= list) heads_.resize(list + 1);
  Head& head = heads_[list];
  if (head.is_heavy()) {
    heavies_.insert(head.place, entry);
  } else if (head.size < small_limit_) {
    smalls_.push_back(head, entry);
  } else {
    std::vector<Entry> entries;
    for (std::uint32_t i = 0; i < head.size; ++i) entries.push_back(smalls_.entry(head, i));
    entries.push_back(entry);
    smalls_.free(head);
    head = {heavies_.make(entries), 0, Head::kHeavy};
  }
}

void AutoIndex::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    erase_entry(entry);
    count(store_.clause(entry), -1);
    --entries_;
  });
}

void AutoIndex::erase_entry(EntryId id) {
  const Clause clause = store_.clause(id);
  const Choice choice = choose(clause);
  const Entry entry = entry_for(id, choice.second);
  if (remove(choice.list, entry)) return;
  // Frequencies have moved since it was inserted: it stands under another of its keywords.
  for (const Token token : clause.positive) {
    if (remove(raw(token) + 1, entry)) return;
  }
  broken("auto: an entry is in none of its lists");
}

bool AutoIndex::remove(std::uint32_t list, const Entry& entry) {
  if (heads_.size() <= list) return false;
  Head& head = heads_[list];
  if (!head.is_heavy()) {
    const std::uint32_t position = smalls_.find(head, entry.id);
    if (position == head.size) return false;
    smalls_.erase(head, position);
    return true;
  }
  if (!heavies_.erase(head.place, entry)) return false;
  if (heavies_.list(head.place).size <= small_limit_ / 2) {
    std::vector<Entry> entries;
    heavies_.collect(head.place, entries);
    heavies_.free(head.place);
    head = smalls_.make(static_cast<std::uint32_t>(entries.size()));
    for (const Entry& left : entries) smalls_.push_back(head, left);
  }
  return true;
}

// ---- the whole --------------------------------------------------------------------------------

std::size_t AutoIndex::memory_bytes() const {
  return heads_.memory_bytes() + frequencies_.memory_bytes() + smalls_.memory_bytes() +
         heavies_.memory_bytes();
}

void AutoIndex::check_invariants() const {
  std::uint64_t entries = 0, listed = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      const Clause clause = store_.clause(entry);
      const Entry expected = entry_for(entry, kUnknownToken);
      std::uint32_t found = 0;
      const auto look = [&](std::uint32_t list) {
        if (list >= heads_.size() || heads_[list].is_empty()) return;
        const Head& head = heads_[list];
        found += head.is_heavy() ? heavies_.has(head.place, expected)
                                 : smalls_.find(head, entry) < head.size;
      };
      if (clause.positive.empty()) look(0);
      for (const Token token : clause.positive) look(raw(token) + 1);
      ensure(found == 1, "auto: an entry is not in exactly one of its lists");
    });
  });
  for (const Head& head : heads_) {
    if (head.is_heavy()) heavies_.check(head.place);
    listed += head.is_heavy() ? heavies_.list(head.place).size : head.size;
  }
  ensure(entries == entries_ && listed == entries_,
         "auto: lists hold another number of entries than there are");
}

void AutoIndex::save(ArchiveWriter& out) const {
  out.value(entries_);
  out.value(frame_);
  heads_.save(out);
  frequencies_.save(out);
  smalls_.save(out);
  heavies_.save(out);
}

void AutoIndex::load(ArchiveReader& in) {
  entries_ = in.value<std::uint64_t>();
  frame_ = in.value<automatic::Frame>();
  heads_.load(in);
  frequencies_.load(in);
  smalls_.load(in);
  heavies_.load(in);
}

}  // namespace nearcast
