/// The interface of all searches: which live messages are the best for a subscription?
#pragma once

#include <cstddef>
#include <vector>

#include "nearcast/base/work_counters.h"
#include "nearcast/topk/top_state.h"

namespace nearcast {

class MessageSearch {
 public:
  explicit MessageSearch(const TopState& state) : state_(state) {}
  virtual ~MessageSearch() = default;

  virtual void insert(MessageId id) = 0;  ///< is in the store, not yet here
  /// Is here, still in the store; `is_oldest`: all others here are newer.
  virtual void erase(MessageId id, bool is_oldest) = 0;
  virtual void clear() = 0;  ///< forget all

  /// The best `count` messages that share a keyword and reach `floor`, or all of them if there are
  /// fewer; best first, of equals the newer first.
  virtual void best(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
                    WorkCounters& work) = 0;

  virtual std::size_t memory_bytes() const = 0;
  /// Throws an internal error that names what is broken.
  virtual void check_invariants() const = 0;

 protected:
  bool is_better(const Held& a, const Held& b) const { return state_.is_better(a, b); }

  const TopState& state_;
};

}  // namespace nearcast
