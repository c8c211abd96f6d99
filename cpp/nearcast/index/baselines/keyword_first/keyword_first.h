/// Keyword-first: each clause once, in the list of its rarest keyword; a message scans the lists of
/// its tokens and tests box, keywords and area. [Rt §2.3 keyword-first baseline]
///
/// The strongest simple baseline: lists are contiguous and carry the box, so a scan reads straight
/// through memory; scalar tests, no prefetching.
#pragma once

#include "nearcast/base/list_arena.h"
#include "nearcast/index/match_index.h"
#include "nearcast/index/parameters.h"
#include "nearcast/model/entry_map.h"

namespace nearcast {

class KeywordFirst final : public MatchIndex {
 public:
  KeywordFirst(const SubscriptionStore& store, const Parameters&) : MatchIndex(store) {}
  static std::vector<ParameterSpec> parameters() { return {}; }

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

 private:
  struct Posting {
    Rect box;
    EntryId entry;
    std::uint32_t padding;
  };
  struct Home {
    std::uint32_t list;      ///< 0: clauses without a keyword; otherwise 1 + token
    std::uint32_t position;  ///< in that list
  };

  std::uint32_t choose_list(const Clause& clause) const;
  void count(const Clause& clause, int step);
  void place(EntryId entry, const Rect& box);
  void scan(const ListHandle& list, const Message& message, MatchScratch& scratch,
            MatchSink& sink) const;

  Array<std::uint32_t> frequencies_;  ///< by token: clauses that need it
  Array<ListHandle> lists_;
  ListArena<Posting> postings_;
  EntryMap<Home> homes_;
};

}  // namespace nearcast
