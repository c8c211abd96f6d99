#include "nearcast/rank/prefix_keys.h"

#include <algorithm>

namespace nearcast {

void PrefixStore::count(EntryId entry, int step) {
  for (const Token token : store_.tokens(SubscriptionId{raw(entry)})) {
    if (frequencies_.size() <= raw(token)) frequencies_.resize(raw(token) + 1);
    frequencies_[raw(token)] += static_cast<std::uint32_t>(step);
  }
}

void PrefixStore::admit(std::span<const EntryId> entries) {
  // Count everything first: the rarest token is then the rarest of the whole.
  for (const EntryId entry : entries) count(entry, +1);
  for (const EntryId entry : entries) add(entry);
}

void PrefixStore::add(EntryId entry) {
  const SubscriptionId id{raw(entry)};
  const TokenSpan wanted = store_.tokens(id);
  std::vector<Token> tokens(wanted.begin(), wanted.end());
  std::stable_sort(tokens.begin(), tokens.end(),
                   [&](Token a, Token b) { return frequencies_[raw(a)] < frequencies_[raw(b)]; });
  if (rows_.size() <= raw(entry)) rows_.resize(raw(entry) + 1);
  Row& row = rows_[raw(entry)];
  row.prefixes = store_.prefixes(id, tokens);
  const bool has_near = row.prefixes.near != Prefixes::kNothingNeeded;
  const bool has_far = row.prefixes.far != Prefixes::kNothingNeeded;
  row.count = has_near ? row.prefixes.near : has_far ? row.prefixes.far : 0;
  if (row.count == 0) return;
  row.start = keys_.allocate(row.count);
  std::transform(tokens.begin(), tokens.begin() + row.count, keys_.at(row.start), key_of);
}

void PrefixStore::forget(EntryId entry) {
  const Row& row = rows_[raw(entry)];
  if (row.count != 0) keys_.free(row.start, row.count);
  count(entry, -1);
}

std::size_t PrefixStore::memory_bytes() const {
  return frequencies_.memory_bytes() + rows_.memory_bytes() + keys_.memory_bytes();
}

}  // namespace nearcast
