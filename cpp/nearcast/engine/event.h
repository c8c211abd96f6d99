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
#include "nearcast/model/change.h"
#include "nearcast/model/subscription.h"

namespace nearcast {

enum class Op : std::uint8_t { kSubscribe, kPublish, kMove, kRetract, kUnsubscribe };
enum class Mode : std::uint8_t { kMatch, kRank, kTop };
constexpr int kOps = 5, kModes = 3;

struct Event {
  Op op = Op::kRetract;
  std::string_view id;
  std::optional<double> time, expires;
  Mode mode = Mode::kMatch;             ///< subscribe, as all that follow
  bool is_live = false;                 ///< of match and rank
  std::uint32_t k = 0;                  ///< of top
  double alpha = 0, threshold = 0;      ///< of rank; alpha of top too
  std::vector<WordClause> clauses;      ///< one for rank and top
  std::optional<Area> area;             ///< subscribe, move; not of top
  std::optional<Point> at;              ///< subscribe, move; of top
  std::vector<std::string_view> words;  ///< publish: the tokens of the text
  Place place;                          ///< publish
};

/// How far subscribers may go from where they were last, told anew.
struct PromiseColumns {
  std::vector<std::int64_t> event;
  WordsOut subscription;
  std::vector<double> distance;
};

struct ChangeColumns {
  std::vector<std::int64_t> event;  ///< row of the event in its batch
  WordsOut subscription, message;
  std::vector<std::uint8_t> kind, reason;
  std::vector<double> score;  ///< NaN: has none
  PromiseColumns promises;
  std::vector<std::pair<std::int64_t, Error>> rejected;  ///< row, and why
  std::vector<std::int64_t> nanoseconds;                 ///< per event, if they were timed
  double cpu_seconds = 0;                                ///< of this thread, for all of them
};

}  // namespace nearcast
