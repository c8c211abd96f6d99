#include <queue>
#include <utility>

#include "nearcast/index/papers/rt_tree/representatives.h"

namespace nearcast {
namespace {

/// Which entries have a token: positions in the span of entries, key after key.
struct Occurrences {
  std::vector<std::uint32_t> starts;  ///< by key, one more than keys
  std::vector<std::uint32_t> positions;

  Occurrences(const SubscriptionStore& store, std::span<const EntryId> entries) : starts(2) {
    const auto for_each = [&](auto&& visit) {
      for (std::uint32_t i = 0; i < entries.size(); ++i) {
        for_each_key(store.clause(entries[i]), [&](TokenKey key) { visit(raw(key), i); });
      }
    };
    for_each([&](std::uint32_t key, std::uint32_t) {
      if (starts.size() < key + 2) starts.resize(key + 2);
      ++starts[key + 1];
    });
    for (std::size_t key = 1; key < starts.size(); ++key) starts[key] += starts[key - 1];
    positions.resize(starts.back());
    std::vector<std::uint32_t> ends(starts.begin(), starts.end() - 1);
    for_each([&](std::uint32_t key, std::uint32_t i) { positions[ends[key]++] = i; });
  }

  std::size_t keys() const { return starts.size() - 1; }
  std::uint32_t count(std::size_t key) const { return starts[key + 1] - starts[key]; }
  std::span<const std::uint32_t> of(std::size_t key) const {
    return std::span(positions).subspan(starts[key], count(key));
  }
};

}  // namespace

std::vector<TokenKey> choose_greedily(const SubscriptionStore& store,
                                      std::span<const EntryId> entries) {
  const Occurrences occurrences(store, entries);
  std::vector<TokenKey> chosen(entries.size(), kNoKey);
  std::vector<std::uint32_t> open(occurrences.keys());  // entries with the key and not yet chosen
  std::priority_queue<std::pair<std::uint32_t, std::uint32_t>> queue;  // (open when queued, key)
  for (std::uint32_t key = 0; key < open.size(); ++key) {
    open[key] = occurrences.count(key);
    if (open[key] != 0) queue.emplace(open[key], key);
  }
  while (!queue.empty()) {
    const auto [count, key] = queue.top();
    queue.pop();
    // Counts only fall, so a count at the top that is still right is the largest.
    if (count != open[key]) {
      if (open[key] != 0) queue.emplace(open[key], key);
      continue;
    }
    for (const std::uint32_t position : occurrences.of(key)) {
      if (chosen[position] != kNoKey) continue;
      chosen[position] = TokenKey{key};
      for_each_key(store.clause(entries[position]), [&](TokenKey other) { --open[raw(other)]; });
    }
  }
  return chosen;
}

}  // namespace nearcast
