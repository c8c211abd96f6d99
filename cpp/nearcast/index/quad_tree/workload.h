/// What the cost rule of the quadtree indexes knows: which keywords subscriptions need, and where
/// messages are and what they say. [AP §5.1.1 historical messages]
///
/// Without a sample of messages they are taken to be like the subscriptions: where their areas have
/// their centres, and with a keyword as often as subscriptions need it.
#pragma once

#include <vector>

#include "nearcast/index/match_index.h"
#include "nearcast/index/quad_tree/density.h"

namespace nearcast {

class Workload {
 public:
  void count(const Clause& clause, int step);  ///< +1: the clause comes, −1: it goes
  void forget_counts() { frequencies_.clear(), clauses_ = 0; }
  std::uint64_t clauses() const { return clauses_; }

  /// The keyword that fewest clauses need, or kUnknownToken for a clause without one.
  Token rarest(const Clause& clause) const;

  void learn(const MessageSample& sample);
  /// Messages are where subscriptions are, unless a sample said otherwise.
  void assume(const SubscriptionStore& store);

  /// The chance that a message has the token; of kUnknownToken: 1.
  double chance(Token token) const;
  double share(const QuadCell& cell) const { return density_.share(cell); }

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  std::uint64_t clauses_ = 0;
  std::uint64_t messages_ = 0;        ///< in the sample; 0: there was none
  Array<std::uint32_t> frequencies_;  ///< by token: clauses that need it
  Array<std::uint32_t> heard_;        ///< by token: messages of the sample that have it
  MessageDensity density_;
};

}  // namespace nearcast
