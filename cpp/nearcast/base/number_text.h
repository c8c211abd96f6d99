/// Numbers as text and back, the same under every locale: with a decimal point and no grouping.
///
/// strtod, printf, streams and std::to_string follow the process's locale, which belongs to the
/// program that nearcast is part of. The core does not use them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nearcast {

/// The shortest text that means exactly this number.
std::string number_text(double number);
/// The number that the whole text means, or nothing.
std::optional<double> number_from(std::string_view text);

}  // namespace nearcast
