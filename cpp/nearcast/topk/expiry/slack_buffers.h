/// Buffers with slack: a buffer keeps some messages beyond the k best, and is cut back to the best
/// of them when it holds too many.
///
/// A buffer is filled to `kept` messages and cut back to as many when it exceeds `limit`. It always
/// holds all messages down to some score, whichever messages leave in whichever order, so it stays
/// exact. With room between the two numbers thresholds change rarely.
///
///   naive   kept = limit = k          every departure from a list evaluates it
///   kmax    kept = limit = factor·k   [Skype §2.3, §8.1.2]; 3k is best there
///   slack   k + 4√k and k + 6√k       our own, which `auto` stands for
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "nearcast/topk/expiry/expiry_policy.h"

namespace nearcast {

class SlackBuffers final : public ExpiryPolicy {
 public:
  /// How many messages to keep, as factor·k + root·√k.
  struct Slack {
    double kept_factor, kept_root, limit_factor, limit_root;

    static std::uint32_t size(double factor, double root, std::uint32_t k) {
      const double wanted = std::ceil(factor * k + root * std::sqrt(double(k)));
      return static_cast<std::uint32_t>(std::min(wanted, 4294967295.0));
    }
    std::uint32_t kept(std::uint32_t k) const { return size(kept_factor, kept_root, k); }
    std::uint32_t limit(std::uint32_t k) const { return size(limit_factor, limit_root, k); }
  };

  SlackBuffers(TopState& state, MessageSearch& search, ArrivalIndex& arrival, Slack slack)
      : ExpiryPolicy(state, search, arrival), slack_(slack) {}

  void arrive(SubscriptionId id, const Held& newcomer) override;
  void leave(SubscriptionId id, MessageId message, bool is_oldest) override;
  void evaluate(SubscriptionId id) override;

 private:
  Slack slack_;
};

}  // namespace nearcast
