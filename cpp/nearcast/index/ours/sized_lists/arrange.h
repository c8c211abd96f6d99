/// Which numbers should new subscriptions get? Those that are next to each other in a list are
/// found by the same messages: with adjacent numbers they share cache lines of records and users'
/// ids.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/index/match_index.h"

namespace nearcast::sized_lists {

/// The rows by list, and those of a list by place.
std::vector<std::uint32_t> arrange_by(std::span<const std::uint32_t> lists, const ClauseRows& rows);

}  // namespace nearcast::sized_lists
