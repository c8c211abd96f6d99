/// What a batch of events changes, as rows: ids in the users' words.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/columns/columns.h"
#include "nearcast/model/change.h"

namespace nearcast {

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

/// The event at hand: when it happens, and where its changes go.
struct Step {
  static constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

  std::int64_t row;
  double now;
  ChangeColumns& out;

  void report(std::string_view subscription, std::string_view message, ChangeKind kind,
              Reason reason, double score = kNoScore) {
    out.event.push_back(row);
    out.subscription.push_back(subscription);
    out.message.push_back(message);
    out.kind.push_back(static_cast<std::uint8_t>(kind));
    out.reason.push_back(static_cast<std::uint8_t>(reason));
    out.score.push_back(score);
  }
};

}  // namespace nearcast
