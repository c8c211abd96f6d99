/// The last step of every quadtree index: which entries of a list match?
#pragma once

#include <span>

#include "nearcast/index/match_index.h"
#include "nearcast/index/parts/quad_tree/posting.h"
#include "nearcast/model/semantics.h"

namespace nearcast {

inline void verify(const SubscriptionStore& store, std::span<const QuadPosting> postings,
                   const Message& message, MatchScratch& scratch, MatchSink& sink) {
  sink.work.candidates += postings.size();
  for (const QuadPosting& posting : postings) {
    if (!touches(posting.box(), message.place)) continue;
    if (!matches(store, posting.entry, message, &scratch.shapes)) continue;
    // A point meets an entry once, since its cells do not overlap; a range may meet it in several.
    const SubscriptionId owner = store.owner(posting.entry);
    if (message.place.is_point ? scratch.first_report(store, posting.entry)
                               : scratch.visited.first_visit(raw(owner))) {
      sink.accept(owner);
    }
  }
}

}  // namespace nearcast
