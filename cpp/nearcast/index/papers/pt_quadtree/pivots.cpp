#include "nearcast/index/papers/pt_quadtree/pivots.h"

#include <algorithm>
#include <queue>

namespace nearcast {
namespace {

struct Use {
  PivotKey key;
  std::uint32_t set;
};

/// Sets that have a key: uses[begin, end).
struct Bid {
  std::uint32_t uncovered;  ///< an upper bound: what was so when the bid was made
  std::uint32_t begin, end;

  bool operator<(const Bid& other) const { return uncovered < other.uncovered; }
};

std::vector<Use> uses_of(std::span<const TokenSpan> sets) {
  std::vector<Use> uses;
  for (std::uint32_t set = 0; set < sets.size(); ++set) {
    for (const Token token : sets[set]) uses.push_back({pivot_key(token), set});
  }
  std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
    return a.key != b.key ? a.key < b.key : a.set < b.set;
  });
  return uses;
}

/// The greedy hitting set. Bids only ever fall, so a bid that still leads after being counted anew
/// is the best of all.
void cover_greedily(std::span<const Use> uses, std::vector<PivotKey>& pivots) {
  std::priority_queue<Bid> bids;
  for (std::uint32_t begin = 0, end; begin < uses.size(); begin = end) {
    for (end = begin + 1; end < uses.size() && uses[end].key == uses[begin].key;) ++end;
    bids.push({end - begin, begin, end});
  }
  while (!bids.empty()) {
    Bid bid = bids.top();
    bids.pop();
    bid.uncovered = 0;
    for (std::uint32_t i = bid.begin; i < bid.end; ++i) bid.uncovered += pivots[uses[i].set] == 0;
    if (bid.uncovered == 0) continue;
    if (!bids.empty() && bid < bids.top()) {
      bids.push(bid);
      continue;
    }
    for (std::uint32_t i = bid.begin; i < bid.end; ++i) {
      if (pivots[uses[i].set] == 0) pivots[uses[i].set] = uses[i].key;
    }
  }
}

}  // namespace

void TokenUses::add(TokenSpan tokens, int step) {
  for (const Token token : tokens) {
    if (counts_.size() <= raw(token)) counts_.resize(raw(token) + 1);
    counts_[raw(token)] += static_cast<std::uint32_t>(step);
  }
}

PivotKey choose_pivot(TokenSpan tokens, const TokenUses& counts, PivotRule rule) {
  if (tokens.empty()) return 0;
  const auto is_less = [&](Token a, Token b) { return counts[a] < counts[b]; };
  return pivot_key(rule == PivotRule::kRare
                       ? *std::min_element(tokens.begin(), tokens.end(), is_less)
                       : *std::max_element(tokens.begin(), tokens.end(), is_less));
}

std::vector<PivotKey> choose_pivots(std::span<const TokenSpan> sets, const TokenUses& counts,
                                    PivotRule rule) {
  std::vector<PivotKey> pivots(sets.size());
  if (rule == PivotRule::kFrequent) {
    cover_greedily(uses_of(sets), pivots);
  } else {
    for (std::size_t i = 0; i < sets.size(); ++i) pivots[i] = choose_pivot(sets[i], counts, rule);
  }
  return pivots;
}

}  // namespace nearcast
