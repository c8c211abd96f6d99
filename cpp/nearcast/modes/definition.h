/// What a subscription says, and why a message matches it or does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nearcast/life/event.h"
#include "nearcast/model/subscription.h"

namespace nearcast {

/// What a subscription says besides its keywords and area.
struct Terms {
  ModeId mode = ModeId::kMatch;
  bool is_live = false;
  std::uint32_t k = 0;              ///< of top
  double alpha = 0, threshold = 0;  ///< of rank; alpha of top too
  std::optional<Point> at{};        ///< of top
  std::optional<double> expires{};
};

/// A subscription as it was given. The words are copies.
struct Definition {
  std::vector<std::string> words;  ///< that are all wanted, if it asks for nothing else
  Area area;
  Terms terms{};
  std::optional<Area> excluded{};
  std::string said{};  ///< keywords and `where` as they were said, where words do not tell
};

/// What a score is made of, of rank and top.
struct ScoreParts {
  double spatial, textual, score;
  std::optional<double> needed;  ///< the threshold, or the score of a full list's last
};

struct Verdict {
  Definition definition;
  bool is_match, is_inside;  ///< all together; the area alone
  std::optional<ScoreParts> score{};
  bool is_excluded = false;  ///< does it touch the excluded area?
};

}  // namespace nearcast
