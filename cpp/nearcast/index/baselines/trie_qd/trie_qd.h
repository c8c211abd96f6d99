/// Trie-Qd: an ordered keyword trie, and behind each set of keywords a quadtree of areas.
/// [AP §3.1 ordered keyword trie, §5.1.2 Trie-Qd]
///
/// The keywords of an entry, most frequent first, are its way through the trie
/// (index/parts/token_trie/token_trie.h); where it ends, the entries with just these keywords form
/// a list that is a quadtree when it is long (index/parts/quad_tree/area_lists.h). A message
/// descends along its own words where a child has one of them. So the message has all positive
/// keywords of what it finds; negative ones and the area are still to be verified.
///
///   paper                          here
///   ordered keyword trie           TokenTrie
///   order of keywords              TokenOrder: by falling frequency, fixed until a rebuild
///   Quadtree                       AreaLists
///
/// Departs from the paper: short lists are not divided, and which cells an entry is attached to is
/// decided by the rule of the other quadtree indexes, where [AP] says nothing. There the chance of
/// a set of keywords is taken to be that of its rarest.
#pragma once

#include "nearcast/index/match_index.h"
#include "nearcast/index/parameters.h"
#include "nearcast/index/parts/quad_tree/area_lists.h"
#include "nearcast/index/parts/token_trie/token_trie.h"

namespace nearcast {

class TrieQd final : public MatchIndex {
 public:
  TrieQd(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters();

  void insert(SubscriptionId id) override { build({&id, 1}); }
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

 private:
  using Item = AreaLists::Item;
  using Trie = TokenTrie<AreaList>;

  Item item_of(EntryId entry) const { return {entry, store_.bounds(store_.owner(entry))}; }
  double chance_of(EntryId entry) const;
  /// The entry's way through the trie. False: one of its keywords has no position.
  bool find_path(EntryId entry, std::vector<Position>& path) const;
  TrieNodeId find_or_add(EntryId entry);
  void rebuild();
  void match_at(TrieNodeId node, std::size_t from, const Message& message, MatchScratch& scratch,
                MatchSink& sink) const;

  Workload workload_;
  TokenOrder order_;
  Trie trie_;
  AreaLists areas_;
  std::vector<Position> path_;  ///< of the entry at hand
};

}  // namespace nearcast
