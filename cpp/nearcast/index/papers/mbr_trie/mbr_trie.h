/// MBRTrie: token sets in a trie whose nodes carry boxes; a message follows its tokens through the
/// trie as long as it touches the boxes. [LFilter §3]
///
/// Three ways to find the children that a message's tokens lead to [LFilter §3.3], parameter
/// `probe`: the children are looked up in the message (token-set), the tokens are looked up among
/// the children (trie), or whichever takes fewer steps at this node (cost).
///
/// The structure proves that a message has all positive tokens of the entries it reaches; negative
/// tokens and the area are tested. An entry stands at one node, so only a subscription with several
/// clauses can be met twice.
///
///   ordered_trie.h    the trie, its order and its updates
///   number_line.h     consecutive numbers with reserves
#pragma once

#include "nearcast/index/match_index.h"
#include "nearcast/index/papers/mbr_trie/ordered_trie.h"
#include "nearcast/index/parameters.h"

namespace nearcast {

/// What every index on an ordered trie takes from its parameters.
std::vector<ParameterSpec> ordered_trie_parameters();
OrderedTrie::Options ordered_trie_options(const Parameters& parameters);
Probe probe_of(const Parameters& parameters);

class MbrTrie final : public MatchIndex {
 public:
  MbrTrie(const SubscriptionStore& store, const Parameters& parameters)
      : MatchIndex(store),
        probe_(probe_of(parameters)),
        trie_(store, ordered_trie_options(parameters)) {}
  static std::vector<ParameterSpec> parameters() { return ordered_trie_parameters(); }

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  std::size_t memory_bytes() const override { return trie_.memory_bytes(); }
  void check_invariants() const override { trie_.check_invariants(); }

 private:
  Probe probe_;
  OrderedTrie trie_;
};

}  // namespace nearcast
