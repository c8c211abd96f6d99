/// A set of top subscriptions that answers: which buffers does this newcomer, a message that was
/// just published, enter?
///
/// It enters the buffers of subscriptions that share a keyword with it and whose threshold its
/// score reaches (topk/result_buffers.h). Every kind gives exactly the answer of brute force; only
/// the cost differs.
#pragma once

#include <cstddef>
#include <vector>

#include "nearcast/base/work_counters.h"
#include "nearcast/topk/top_state.h"

namespace nearcast {

struct ArrivalHit {
  SubscriptionId id;
  Units units;
};

class ArrivalIndex {
 public:
  explicit ArrivalIndex(const TopState& state) : state_(state) {}
  virtual ~ArrivalIndex() = default;

  virtual void insert(SubscriptionId id) = 0;  ///< is in the state, not yet here
  virtual void erase(SubscriptionId id) = 0;   ///< is here, unchanged in the state since insert
  virtual void clear() = 0;                    ///< forget all
  virtual void threshold_changed(SubscriptionId id, Units old) = 0;
  /// Appends each subscription whose buffer the message enters once, in any order.
  virtual void find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) = 0;

  virtual std::size_t memory_bytes() const = 0;
  /// Throws an internal error that names what is broken.
  virtual void check_invariants() const = 0;

 protected:
  const TopState& state_;
};

}  // namespace nearcast
