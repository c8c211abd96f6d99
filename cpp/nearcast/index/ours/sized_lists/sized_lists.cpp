#include "nearcast/index/ours/sized_lists/sized_lists.h"

#include "nearcast/base/errors.h"
#include "nearcast/base/prefetch.h"

namespace nearcast {

using sized_lists::Entry;
using sized_lists::is_time_to_refit;
using sized_lists::kSmallLimit;

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

Entry SizedLists::entry_for(EntryId id, Token second) const {
  ensure((raw(id) & sized_lists::kProvenBit) == 0,
         "sized-lists: there are more entries than it can number");
  const SubscriptionId owner = store_.owner(id);
  sized_lists::Signature signature = sized_lists::kAsk;
  if (second != kUnknownToken) {
    signature = sized_lists::signature_of(second);
  } else if (store_.clause(id).negative.empty() && store_.is_only_clause(id) &&
             store_.bounds_are_exact(owner)) {
    signature = sized_lists::kProven;
  }
  return {frame_.cells(store_.bounds(owner)), signature, id};
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
  store_.for_each_entry(id, [&](EntryId entry) {
    count(store_.clause(entry), +1);
    const Choice choice = choose(store_.clause(entry));
    lists_.add(choice.list, entry_for(entry, choice.second));
    ++entries_;
  });
}

void SizedLists::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    erase_entry(entry);
    count(store_.clause(entry), -1);
    --entries_;
  });
}

void SizedLists::erase_entry(EntryId id) {
  const Clause clause = store_.clause(id);
  const Choice choice = choose(clause);
  const Entry entry = entry_for(id, choice.second);
  if (lists_.remove(choice.list, entry)) return;
  // Frequencies have changed since the entry was inserted: it is filed under another keyword.
  for (const Token token : clause.positive) {
    if (lists_.remove(raw(token) + 1, entry)) return;
  }
  broken("sized-lists: an entry is in none of its lists");
}

// ---- the whole --------------------------------------------------------------------------------

std::size_t SizedLists::memory_bytes() const {
  return frequencies_.memory_bytes() + lists_.memory_bytes();
}

void SizedLists::check_invariants() const {
  std::uint64_t entries = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      const Clause clause = store_.clause(entry);
      const Entry expected = entry_for(entry, kUnknownToken);
      std::uint32_t found = clause.positive.empty() ? lists_.has(0, expected) : 0;
      for (const Token token : clause.positive) found += lists_.has(raw(token) + 1, expected);
      ensure(found == 1, "sized-lists: an entry is not in exactly one of its lists");
    });
  });
  ensure(entries == entries_ && lists_.check_invariants() == entries_,
         "sized-lists: lists hold another number of entries than there are");
}

void SizedLists::save(ArchiveWriter& out) const {
  out.value(entries_);
  out.value(frame_);
  frequencies_.save(out);
  lists_.save(out);
}

void SizedLists::load(ArchiveReader& in) {
  entries_ = in.value<std::uint64_t>();
  frame_ = in.value<sized_lists::Frame>();
  frequencies_.load(in);
  lists_.load(in);
  if (in.is_checking()) check_loaded();
}

}  // namespace nearcast
