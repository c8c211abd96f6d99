/// The interface of all kinds of expiry: what does a subscription keep beyond its k best, so that a
/// departure needs no search?
///
/// A policy decides which messages a buffer holds and what its threshold is, so that the first k of
/// a buffer are always the k best. When that is no longer certain, the policy fills the buffer anew
/// from the live messages. That happens once, at the end of an event; until then the subscription
/// is in a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/work_counters.h"
#include "nearcast/topk/arrival/arrival_index.h"
#include "nearcast/topk/search/message_search.h"
#include "nearcast/topk/top_state.h"

namespace nearcast {

struct ExpiryWork {
  std::uint64_t inserts = 0;      ///< of newcomers into buffers
  std::uint64_t departures = 0;   ///< of messages from buffers
  std::uint64_t evaluations = 0;  ///< of buffers, from the live messages
  WorkCounters evaluation;
};

class ExpiryPolicy {
 public:
  ExpiryPolicy(TopState& state, MessageSearch& search, ArrivalIndex& arrival)
      : state_(state), search_(search), arrival_(arrival) {}
  virtual ~ExpiryPolicy() = default;

  /// The newest message reaches the threshold.
  virtual void arrive(SubscriptionId id, const Held& newcomer) = 0;
  /// A message that may be held leaves; `is_oldest`: all other live messages are newer.
  virtual void leave(SubscriptionId id, MessageId message, bool is_oldest) = 0;
  /// Fill the buffer from the live messages.
  virtual void evaluate(SubscriptionId id) = 0;

  /// Let an empty buffer hold what another of the same policy holds, over the same messages.
  virtual void restore(SubscriptionId id, std::span<const Held> all, Units threshold);
  /// A message was published or left, in any buffer or none.
  virtual void window_moved(bool /*has_grown*/) {}

  /// The buffer will be filled anew at the end of the event.
  void request(SubscriptionId id, Refill refill);
  void evaluate_requested();

  const ExpiryWork& work() const { return work_; }
  virtual std::size_t memory_bytes() const { return 0; }     ///< beside the buffers
  virtual void check_buffer(SubscriptionId /*id*/) const {}  ///< throws an internal error

 protected:
  /// May the first k of the buffer not be the best?
  bool is_short(SubscriptionId id) const {
    return state_.buffers.size(id) < state_.subscriptions[id].k && !state_.buffers.is_complete(id);
  }
  /// To be called before the buffer changes from `place` on.
  void remember(SubscriptionId id, std::uint32_t place) {
    const std::uint32_t k = state_.subscriptions[id].k;
    if (place < k) state_.journal.remember(id, k, place, state_.buffers);
  }
  /// Insert at its place, which is returned.
  std::uint32_t insert(SubscriptionId id, const Held& newcomer);
  /// Remove it if it is held; ResultBuffers::kNowhere: it was not.
  std::uint32_t remove(SubscriptionId id, MessageId message);
  /// Replace the contents of the buffer.
  void hold(SubscriptionId id, std::span<const Held> all);
  void set_threshold(SubscriptionId id, Units units);

  TopState& state_;
  MessageSearch& search_;
  ArrivalIndex& arrival_;
  ExpiryWork work_;
  std::vector<Held> found_;

 private:
  void group_requests();

  std::vector<SubscriptionId> requested_;
};

}  // namespace nearcast
