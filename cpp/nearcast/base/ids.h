/// Ids are distinct types, so that a token can never be passed where a subscription is meant.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearcast {

enum class SubscriptionId : std::uint32_t {};  ///< slot of a subscription in the store; re-used
enum class EntryId : std::uint32_t {};         ///< one clause of a subscription: what indexes hold
enum class MessageId : std::uint32_t {};       ///< slot of a live message in its store; re-used
enum class Token : std::uint32_t {};           ///< a word of the vocabulary

constexpr Token kUnknownToken = Token{0xFFFFFFFFu};

template <typename Id>
constexpr std::uint32_t raw(Id id) {
  return static_cast<std::uint32_t>(id);
}

}  // namespace nearcast
