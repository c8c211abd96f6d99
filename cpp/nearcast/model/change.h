/// What is delivered: changes of what a subscription holds, with the reason.
#pragma once

#include <cstdint>

namespace nearcast {

enum class ChangeKind : std::uint8_t { kAdded, kRemoved, kUpdated };
enum class Reason : std::uint8_t {
  kPublished,
  kSubscribed,
  kMoved,
  kExpired,
  kRetracted,
  kDisplaced,
  kRefilled,
  kChanged  ///< the subscription, or the message, was replaced by a new version
};

}  // namespace nearcast
