/// Matches one message with a tree of token sets, for Rt and Rt+. [Rt §3.2, Fig. 3]
#pragma once

#include <cstddef>

#include "nearcast/index/match_index.h"
#include "nearcast/index/papers/rt_tree/token_filter.h"
#include "nearcast/index/parts/r_tree/r_tree.h"
#include "nearcast/model/semantics.h"

namespace nearcast {

/// Verifies candidates some time after they were found. What a candidate needs is anywhere in
/// memory, and waiting for it is most of the cost of verification: so it is prefetched in two
/// steps, while earlier candidates are verified.
class Verifier {
 public:
  Verifier(const SubscriptionStore& store, const Message& message, MatchScratch& scratch,
           MatchSink& sink)
      : store_(store), message_(message), scratch_(scratch), sink_(sink) {
    scratch_.queue.clear();
  }

  void add(EntryId entry) {
    store_.prefetch(entry, 0);
    scratch_.queue.push_back(raw(entry));
    if (scratch_.queue.size() >= next_ + 2 * kAhead) decide_next();
  }
  void finish() {
    while (next_ < scratch_.queue.size()) decide_next();
  }

 private:
  static constexpr std::size_t kAhead = 8;

  EntryId waiting(std::size_t i) const {
    return EntryId{static_cast<std::uint32_t>(scratch_.queue[i])};
  }
  void decide_next() {
    if (next_ + kAhead < scratch_.queue.size()) store_.prefetch(waiting(next_ + kAhead), 1);
    const EntryId entry = waiting(next_++);
    if (matches(store_, entry, message_, &scratch_.shapes) &&
        scratch_.first_report(store_, entry)) {
      sink_.accept(store_.owner(entry));
    }
  }

  const SubscriptionStore& store_;
  const Message& message_;
  MatchScratch& scratch_;
  MatchSink& sink_;
  std::size_t next_ = 0;
};

template <typename Summary>
void filter_and_verify(const SubscriptionStore& store, const RTree<Summary>& tree,
                       const Message& message, MatchScratch& scratch, MatchSink& sink) {
  TokenFilter filter(tree.nodes(), tree.summary().tables(), message.tokens, scratch.positions);
  Verifier verifier(store, message, scratch, sink);
  tree.search(
      message.place, sink.work, [&](RNodeId node) { return filter.passes(node); },
      [&](EntryId entry) { verifier.add(entry); });
  verifier.finish();
}

}  // namespace nearcast
