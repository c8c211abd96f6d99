#include "nearcast/snapshot/description.h"

#include "nearcast/base/errors.h"
#include "nearcast/base/number_text.h"
#include "nearcast/base/utf8.h"

namespace nearcast {
namespace {

constexpr const char* kTypes = "bns";  ///< by the alternatives of ParameterValue

std::string value_text(const ParameterValue& value) {
  if (const bool* is_on = std::get_if<bool>(&value)) return *is_on ? "1" : "0";
  if (const double* number = std::get_if<double>(&value)) return number_text(*number);
  return std::get<std::string>(value);
}

[[noreturn]] void refuse(std::string_view line) {
  throw Error(ErrorKind::kSnapshot, "snapshot: its description cannot be read",
              "'" + std::string(line) + "'", "a name, a type and a value");
}

ParameterValue value_from(std::string_view type, std::string_view value, std::string_view line) {
  if (type == "b" && (value == "0" || value == "1")) return value == "1";
  if (type == "n") {
    if (const auto number = number_from(value)) return *number;
  }
  if (type == "s") return std::string(value);
  refuse(line);
}

/// What stands before the separator; the text goes on behind it.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

}  // namespace

std::string Description::text() const {
  std::string all = index;
  if (!mark.empty()) all += '\t' + mark;
  all += '\n';
  for (const Values* values : {&parameters, &settings}) {
    for (const auto& [name, value] : *values) {
      all += name + '\t' + kTypes[value.index()] + '\t' + value_text(value) + '\n';
    }
  }
  return all;
}

Description Description::from(std::string_view text) {
  if (!is_utf8(text)) {
    throw Error(ErrorKind::kSnapshot, "snapshot: its description cannot be read",
                "bytes that are not UTF-8", "text");
  }
  Description found;
  std::string_view first = take(text, '\n');
  found.index = take(first, '\t');
  found.mark = first;
  while (!text.empty()) {
    const std::string_view line = take(text, '\n');
    std::string_view rest = line;
    const std::string name(take(rest, '\t'));
    const std::string_view type = take(rest, '\t');
    if (name.empty()) refuse(line);
    (name[0] == '@' ? found.settings : found.parameters)[name] = value_from(type, rest, line);
  }
  return found;
}

}  // namespace nearcast
