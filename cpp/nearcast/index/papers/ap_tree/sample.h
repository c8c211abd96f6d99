/// Messages of the past in the form the cost model reads. [AP §3.3.1 hit probability]
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/index/match_index.h"
#include "nearcast/text/token_order.h"

namespace nearcast::ap {

/// A message during a descent.
struct Visit {
  std::uint32_t message;
  std::uint32_t first_token;  ///< η: first token not yet used on the path
};

/// Weight of the assumed probability, in messages. Few messages of a sample reach nodes far down;
/// there the assumption made from the subscriptions prevails.
constexpr double kPriorMessages = 32;

inline double smoothed(double hits, double messages, double assumed) {
  return (hits + kPriorMessages * assumed) / (messages + kPriorMessages);
}

class Sample {
 public:
  static constexpr std::size_t kMaxMessages = 100000;  ///< of more, evenly chosen ones are kept

  std::size_t size() const { return places_.size(); }
  const Place& place(std::uint32_t message) const { return places_[message]; }
  std::span<const Position> positions(std::uint32_t message) const {
    return positions_.view().subspan(offsets_[message], offsets_[message + 1] - offsets_[message]);
  }

  void learn(const MessageSample& messages, const TokenOrder& order) {
    tokens_.clear();
    offsets_.clear();
    places_.clear();
    const std::size_t step = messages.size() / kMaxMessages + 1;
    for (std::size_t i = 0; i < messages.size(); i += step) {
      offsets_.push_back(static_cast<std::uint32_t>(tokens_.size()));
      for (const Token token : messages.tokens_of(i)) tokens_.push_back(token);
      places_.push_back(messages.places[i]);
    }
    offsets_.push_back(static_cast<std::uint32_t>(tokens_.size()));
    reorder(order);
  }

  /// Tokens without a position come last: no cut reaches them.
  void reorder(const TokenOrder& order) {
    positions_.resize(tokens_.size());
    for (std::size_t i = 0; i < tokens_.size(); ++i) positions_[i] = order.position(tokens_[i]);
    for (std::size_t i = 0; i < size(); ++i) {
      std::sort(positions_.begin() + offsets_[i], positions_.begin() + offsets_[i + 1]);
    }
  }

  std::size_t memory_bytes() const {
    return tokens_.memory_bytes() + positions_.memory_bytes() + offsets_.memory_bytes() +
           places_.memory_bytes();
  }

 private:
  Array<Token> tokens_;
  Array<Position> positions_;  ///< of each message's tokens, ascending
  Array<std::uint32_t> offsets_;
  Array<Place> places_;
};

}  // namespace nearcast::ap
