/// Events and changes as they cross the border: checked values, ids in the users' words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/engine/engine.h"
#include "nearcast/geo/place.h"
#include "nearcast/model/subscription.h"

namespace nearcast {

enum class Op : std::uint8_t { kSubscribe, kPublish, kMove, kRetract, kUnsubscribe };
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

struct Event {
  Op op = Op::kRetract;
  std::string_view id;
  std::optional<double> time, expires;
  std::vector<WordClause> clauses;      ///< subscribe
  Area area;                            ///< subscribe, move
  std::vector<std::string_view> words;  ///< publish: the tokens of the text
  Place place;                          ///< publish
};

/// Words in Arrow's form, growing.
struct WordsOut {
  std::vector<std::int64_t> offsets{0};
  std::string bytes;

  void push_back(std::string_view word) {
    bytes += word;
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
};

struct ChangeColumns {
  std::vector<std::int64_t> event;  ///< row of the event in its batch
  WordsOut subscription, message;
  std::vector<std::uint8_t> kind, reason;
  std::vector<std::pair<std::int64_t, Error>> rejected;  ///< row, and why
};

}  // namespace nearcast
