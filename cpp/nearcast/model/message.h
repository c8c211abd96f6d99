/// A message as the indexes see it: what it says and where it is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nearcast/geo/place.h"
#include "nearcast/model/attribute.h"
#include "nearcast/text/token_set.h"

namespace nearcast {

/// The words of a message in their order, and its attributes. A word without letters (whose data
/// is null) is the place of one that was left out: a stop word.
struct Saying {
  std::span<const std::string_view> words;
  std::span<const Attribute> attributes;
};

/// What a message says beyond its set of words. Indexes do not look at it.
struct Said {
  const Saying* fresh = nullptr;        ///< of a message that comes from outside
  const std::uint32_t* kept = nullptr;  ///< of one in a store: see model/message_store.h
};

/// A number that a message has as an attribute.
struct NumberFact {
  Token name;  ///< of its term kNamed
  double value;
};

struct Message {
  TokenSpan tokens;  ///< known tokens, ascending and distinct
  Place place;
  Said said{};
  std::span<const NumberFact> numbers{};  ///< those that are derived (model/facts.h)
};

}  // namespace nearcast
