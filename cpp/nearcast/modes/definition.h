/// What a subscription says, and why a message matches it or does not.
#pragma once

#include <string>
#include <vector>

#include "nearcast/model/subscription.h"

namespace nearcast {

/// A subscription as it was given. The words are copies.
struct Definition {
  struct Alternative {
    std::vector<std::string> positive, negative;
  };
  std::vector<Alternative> clauses;
  Area area;
};

struct Verdict {
  Definition definition;
  bool is_match, is_inside;  ///< keywords and area; the area alone
};

}  // namespace nearcast
