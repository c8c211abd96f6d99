#include "nearcast/index/papers/mbr_trie/mbr_trie.h"

#include "nearcast/model/semantics.h"

namespace nearcast {

std::vector<ParameterSpec> ordered_trie_parameters() {
  const OrderedTrie::Options standard;
  return {
      choice("probe", {"cost", "token-set", "trie"},
             "which side looks for the other's tokens at a node of the trie"),
      choice("order", {"rare-first", "frequent-first"}, "how tokens follow each other on a path"),
      real("reserve", standard.reserve, 0, 4, "spare numbers per entry after a build"),
      real("repair", standard.repair, 0, 0.9,
           "share of erased entries from which on the trie is made anew")};
}

OrderedTrie::Options ordered_trie_options(const Parameters& parameters) {
  return {parameters.word("order") == "rare-first", parameters.number("reserve"),
          parameters.number("repair")};
}

Probe probe_of(const Parameters& parameters) {
  const std::string& word = parameters.word("probe");
  return word == "cost" ? Probe::kCost : word == "trie" ? Probe::kTrie : Probe::kTokenSet;
}

void MbrTrie::insert(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) { trie_.insert(entry); });
}

void MbrTrie::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) { trie_.erase(entry); });
}

void MbrTrie::build(std::span<const SubscriptionId> ids) {
  if (ids.size() < trie_.size()) return MatchIndex::build(ids);
  trie_.rebuild();
}

void MbrTrie::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  if (trie_.size() == 0) return;
  trie_.place_tokens(message.tokens, scratch.positions);
  trie_.search(scratch.positions, message.place, probe_, sink.work, scratch.queue,
               [&](EntryId entry) {
                 const SubscriptionId id = store_.owner(entry);
                 if (contains_any(message.tokens, store_.clause(entry).negative)) return;
                 if (!area_touches(store_, id, message.place, &scratch.shapes)) return;
                 if (scratch.first_report(store_, entry)) sink.accept(id);
               });
}

}  // namespace nearcast
