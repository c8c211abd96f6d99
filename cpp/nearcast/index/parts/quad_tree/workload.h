/// What the cost rule of the quadtree indexes knows: which keywords subscriptions need, and where
/// messages are and what they say. [AP §5.1.1 historical messages]
///
/// Without a sample, messages are assumed to be like the subscriptions: located at the centres of
/// their areas, and having a keyword as often as subscriptions need it.
#pragma once

#include <span>

#include "nearcast/index/match_index.h"
#include "nearcast/index/parts/quad_tree/density.h"

namespace nearcast {

class Workload {
 public:
  void count(const Clause& clause, int step);  ///< +1: the clause comes, −1: it goes
  std::uint64_t clauses() const { return clauses_; }
  /// Count everything anew, for a build of everything.
  void count_all(const SubscriptionStore& store);
  /// An index that grows little by little is built anew when it passes these sizes for the first
  /// time, because frequencies and places are then known better. Beyond them they are known well
  /// enough.
  bool has_outgrown_build() const {
    return (built_ < 512 && clauses_ >= 512) || (built_ < 4096 && clauses_ >= 4096);
  }

  /// By token: clauses that need it.
  std::span<const std::uint32_t> frequencies() const { return frequencies_.view(); }
  /// The keyword that fewest clauses need, or kUnknownToken for a clause without one.
  Token rarest(const Clause& clause) const;

  void learn(const MessageSample& sample);
  /// Messages are where subscriptions are, unless a sample said otherwise.
  void assume(const SubscriptionStore& store);

  /// The chance that a message has the token; of kUnknownToken: 1.
  double chance(Token token) const;
  double share(const QuadCell& cell) const { return density_.share(cell); }
  const MessageDensity& density() const { return density_; }

  std::size_t memory_bytes() const;

 private:
  std::uint64_t clauses_ = 0;
  std::uint64_t built_ = 0;           ///< clauses when all were counted anew
  std::uint64_t messages_ = 0;        ///< in the sample; 0: there was none
  Array<std::uint32_t> frequencies_;  ///< by token: clauses that need it
  Array<std::uint32_t> heard_;        ///< by token: messages of the sample that have it
  MessageDensity density_;
};

}  // namespace nearcast
