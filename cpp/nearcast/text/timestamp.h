/// Timestamps of RFC 3339 as nearly all are written: since 1970, with at most six digits after the
/// point, no leap second. What else may be a timestamp is for nearcast/times.py to say.
#pragma once

#include <optional>
#include <string_view>

namespace nearcast {

/// Seconds since the epoch, rounded once. Nothing: it is not plain, and may or may not be right.
std::optional<double> read_plain_timestamp(std::string_view text);

}  // namespace nearcast
