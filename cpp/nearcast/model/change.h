/// What is delivered: signed changes of what a subscription holds, with the reason.
#pragma once

#include <cstdint>

namespace nearcast {

enum class ChangeKind : std::uint8_t { kAdded, kRemoved };
enum class Reason : std::uint8_t {
  kPublished,
  kSubscribed,
  kMoved,
  kExpired,
  kRetracted,
  kDisplaced,
  kRefilled
};

}  // namespace nearcast
