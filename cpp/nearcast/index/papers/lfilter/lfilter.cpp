#include "nearcast/index/papers/lfilter/lfilter.h"

#include "nearcast/base/errors.h"
#include "nearcast/index/papers/lfilter/costs.h"
#include "nearcast/index/papers/mbr_trie/mbr_trie.h"

namespace nearcast {

std::vector<ParameterSpec> LFilter::parameters() {
  std::vector<ParameterSpec> specs = ordered_trie_parameters();
  for (ParameterSpec& spec : pivot_tree_parameters()) specs.push_back(std::move(spec));
  specs.push_back(
      choice("filter", {"cost", "trie", "quadtree"}, "which structure a message goes to"));
  specs.push_back(choice("verify", {"cost", "direct", "prune"},
                         "verify the quadtree's lists as they are, or prune them by the trie"));
  specs.push_back(real("cell_cost", kCellCost, 1e-6, 1e6,
                       "a step in the quadtree costs as much as so many in the trie"));
  specs.push_back(real("prune_cost", kPruneCost, 1e-6, 1e6,
                       "a step of pruning costs as much as so many of verifying"));
  return specs;
}

LFilter::LFilter(const SubscriptionStore& store, const Parameters& parameters)
    : MatchIndex(store),
      probe_(probe_of(parameters)),
      filter_(parameters.word("filter") == "cost"   ? Choice::kCost
              : parameters.word("filter") == "trie" ? Choice::kFirst
                                                    : Choice::kSecond),
      verify_(parameters.word("verify") == "cost"     ? Choice::kCost
              : parameters.word("verify") == "direct" ? Choice::kFirst
                                                      : Choice::kSecond),
      cell_cost_(parameters.number("cell_cost")),
      prune_cost_(parameters.number("prune_cost")),
      trie_(store, ordered_trie_options(parameters)),
      labels_(trie_),
      tree_(store, labels_, pivot_tree_options(parameters)) {}

void LFilter::follow_numbers() {
  std::vector<Relabel> moves;
  for (const auto [from, to] : trie_.moves()) {
    if (trie_.line().is_live(to)) moves.push_back({from, to});
  }
  if (!moves.empty()) tree_.relabel(moves);
}

void LFilter::insert(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    tokens_ += store_.clause(entry).positive.size();
    trie_.insert(entry);
    follow_numbers();  // before the quadtree searches anything by number
    tree_.insert(entry);
  });
}

void LFilter::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    tokens_ -= store_.clause(entry).positive.size();
    tree_.erase(entry);
    trie_.erase(entry);
    follow_numbers();
  });
}

void LFilter::build(std::span<const SubscriptionId> ids) {
  if (ids.size() < trie_.size()) return MatchIndex::build(ids);
  trie_.rebuild();
  tree_.rebuild();
  tokens_ = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id,
                          [&](EntryId entry) { tokens_ += store_.clause(entry).positive.size(); });
  });
}

double LFilter::average_tokens() const {
  return static_cast<double>(tokens_) / static_cast<double>(trie_.size());
}

void LFilter::check_invariants() const {
  trie_.check_invariants();
  tree_.check_invariants();
  std::uint64_t tokens = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id,
                          [&](EntryId entry) { tokens += store_.clause(entry).positive.size(); });
  });
  ensure(tokens == tokens_, "lfilter: tokens are counted wrong");
}

}  // namespace nearcast
