#include "nearcast/index/baselines/brute_force/brute_force.h"

#include "nearcast/model/semantics.h"

namespace nearcast {

void BruteForce::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  store_.for_each([&](SubscriptionId id) {
    ++sink.work.candidates;
    if (matches(store_, id, message, &scratch.shapes)) sink.accept(id);
  });
}

}  // namespace nearcast
