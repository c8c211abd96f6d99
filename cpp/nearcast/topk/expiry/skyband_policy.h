/// Buffers by dominance: of the messages that reach a threshold, those that fewer than k others
/// dominate [Skype §6.1 Definitions 10 and 11, Theorem 5].
///
///   paper    here         meaning
///   s.A      the buffer   the partial k-skyband
///   s.θ      threshold    all messages that reach it are in the buffer, or dominated k times
///
/// One message dominates another if it scores no less and is newer. As long as the oldest message
/// always leaves first, a message that k others dominate can never be among the k best again.
///
/// Departs from the paper:
/// - Messages that expire early or are retracted dominated others that are still there. If a buffer
///   of at least k messages loses one like that, something may have been dropped because of it: the
///   buffer is evaluated anew. In a smaller one nothing was dropped; counters are taken back.
/// - A search that finds fewer messages than it looked for makes the buffer complete: nothing was
///   left out, so it need not be filled again when it falls below k.
/// - A threshold may also rise without a search: a buffer that has grown beyond 4k, because the
///   window filled or because it was complete, is cut back to what would be kept now.
#pragma once

#include <cstdint>
#include <vector>

#include "nearcast/topk/expiry/expiry_policy.h"

namespace nearcast {

class SkybandPolicy : public ExpiryPolicy {
 public:
  using ExpiryPolicy::ExpiryPolicy;

  void arrive(SubscriptionId id, const Held& newcomer) override;
  void leave(SubscriptionId id, MessageId message, bool is_oldest) override;
  void restore(SubscriptionId id, std::span<const Held> all, Units threshold) override;
  void check_buffer(SubscriptionId id) const override;

 protected:
  struct Cut {
    std::uint32_t size;  ///< at least k
    Units threshold;     ///< all before the cut reach it
  };
  /// Where would a buffer of more than 4k messages end, if it were filled now?
  virtual Cut choose_cut(SubscriptionId id) const = 0;

  /// Let the buffer hold the k-skyband of what was found, which is sorted, best first.
  void hold_skyband(SubscriptionId id, Units threshold);

 private:
  void cut_back(SubscriptionId id);

  std::vector<std::uint64_t> newest_;      ///< numbers of the k newest so far, ascending
  std::vector<std::uint32_t> dominators_;  ///< of what is kept
};

}  // namespace nearcast
