/// The first blob of a snapshot: what was saved, and with which settings. A line each, so that a
/// hexdump tells what a file is.
///
///   kind [TAB mark]         the index, and "rank" or "hub"; no mark: a matcher
///   name TAB b|n|s TAB value
///
/// Names that begin with @ are settings of the hub, all others parameters of the index.
#pragma once

#include <string>
#include <string_view>

#include "nearcast/index/parameters.h"

namespace nearcast {

struct Description {
  using Values = GivenParameters;

  std::string index, mark;
  Values parameters, settings;

  std::string text() const;
  /// Throws a snapshot error if it is not what text() writes.
  static Description from(std::string_view text);
};

}  // namespace nearcast
