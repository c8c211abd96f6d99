/// Which index ranks, for each kind of the project's one list (index/registry.h)? A kind that
/// cannot rank is served by `auto`: every kind replays every log.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "nearcast/index/parameters.h"
#include "nearcast/rank/rank_index.h"

namespace nearcast {

/// Throws an invalid-parameter error for an unknown kind, or for parameters that are not the
/// kind's.
std::unique_ptr<RankIndex> make_rank_index(const std::string& kind, const RankStore& store,
                                           const std::map<std::string, ParameterValue>& parameters);

}  // namespace nearcast
