/// Which rank index serves a kind of index/registry.h? A kind that has none of its own is served by
/// that of `auto`, so that every kind replays every log.
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
