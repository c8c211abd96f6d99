/// LFilter: an MBRTrie and a PT-Quadtree over the same subscriptions. For each message a cost model
/// chooses which of them to use. [LFilter §5]
///
/// - If the filter step of the quadtree would take longer than the trie's, the trie alone answers.
/// - Otherwise the quadtree finds lists of candidates. Their labels are the numbers of the trie, so
///   a node of the trie is a stretch of each list: *list pruning* goes down the trie with the
///   message's tokens and narrows the lists by binary search. At each node the model chooses
///   between that and verifying what is left of the lists directly.
///
///   paper           here            meaning
///   Cost_F_Q        cost_model.h    steps of the quadtree's filter
///   Cost_F_T        cost_model.h    steps of the trie's filter
///   C_V, C_L        cost_model.h    steps of verifying lists, of pruning them
///   I, Λ_I          Lists           lists of the quadtree, narrowed to a node of the trie
///   k               kEstimateLevel  level of the quadtree whose cells estimate cand_Q
///
/// List pruning proves the positive tokens of what it leaves; all else is decided by
/// model/semantics. When insertions change numbers (mbr_trie/number_line.h), the quadtree's lists
/// follow.
#pragma once

#include "nearcast/index/match_index.h"
#include "nearcast/index/papers/mbr_trie/ordered_trie.h"
#include "nearcast/index/papers/pt_quadtree/pivot_tree.h"
#include "nearcast/index/parameters.h"

namespace nearcast {

/// The label of an entry is its number in the trie.
class TrieLabels final : public Labels {
 public:
  explicit TrieLabels(const OrderedTrie& trie) : trie_(trie) {}
  Label label(EntryId entry) const override { return trie_.number(entry); }
  EntryId entry(Label label) const override { return trie_.line().entry(label); }

 private:
  const OrderedTrie& trie_;
};

class LFilter final : public MatchIndex {
 public:
  LFilter(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters();

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  std::size_t memory_bytes() const override { return trie_.memory_bytes() + tree_.memory_bytes(); }
  void check_invariants() const override;

 private:
  enum class Choice { kCost, kFirst, kSecond };  ///< by the model, or always one of the two
  struct Call {
    const Message& message;
    MatchScratch& scratch;
    MatchSink& sink;
  };
  /// Lists, narrowed: pairs of address and length in scratch.pending, from begin to end.
  struct Lists {
    std::size_t begin, end;
  };

  bool prefers_trie(const Message& message, std::size_t tokens) const;
  bool prefers_direct(TrieNodeId node, std::size_t depth, std::size_t tokens, const Lists& lists,
                      const Call& call) const;
  void match_by_trie(const Call& call) const;
  void match_by_quadtree(const Call& call) const;
  void prune(TrieNodeId node, PositionSpan positions, std::size_t depth, const Lists& lists,
             const Call& call) const;
  Lists narrow(const Lists& lists, Number begin, Number end, const Call& call) const;
  void verify(const Lists& lists, bool has_tokens, const Call& call) const;
  void report_if_near(EntryId entry, const Call& call) const;
  void follow_numbers();
  double average_tokens() const;

  Probe probe_;
  Choice filter_;  ///< trie or quadtree
  Choice verify_;  ///< direct or pruned
  double cell_cost_, prune_cost_;
  OrderedTrie trie_;
  TrieLabels labels_;
  PivotTree tree_;
  std::uint64_t tokens_ = 0;  ///< of all entries
};

}  // namespace nearcast
