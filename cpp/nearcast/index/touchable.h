/// What a lower bound of the time per message is measured with. Only the benchmark uses it.
#pragma once

#include <cstdint>
#include <span>

#include "nearcast/model/message.h"

namespace nearcast {

/// An index that can read the first bytes of everything that matching would begin with, and no
/// more.
class Touchable {
 public:
  virtual ~Touchable() = default;
  virtual std::uint32_t touch(std::span<const Message> messages) const = 0;  ///< how many places
};

}  // namespace nearcast
