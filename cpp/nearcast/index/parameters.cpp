#include "nearcast/index/parameters.h"

#include <algorithm>
#include <cmath>

#include "nearcast/base/errors.h"
#include "nearcast/base/number_text.h"

namespace nearcast {
namespace {

std::string text(const ParameterValue& value) {
  if (const bool* is_on = std::get_if<bool>(&value)) return *is_on ? "true" : "false";
  if (const double* number = std::get_if<double>(&value)) return number_text(*number);
  return "'" + std::get<std::string>(value) + "'";
}

std::string join(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

std::string wanted(const ParameterSpec& spec) {
  if (std::holds_alternative<bool>(spec.standard)) return "true or false";
  if (std::holds_alternative<std::string>(spec.standard)) return "one of " + join(spec.choices);
  return std::string(spec.is_whole ? "a whole number" : "a number") + " from " +
         number_text(spec.minimum) + " to " + number_text(spec.maximum);
}

bool is_allowed(const ParameterSpec& spec, const ParameterValue& value) {
  if (spec.standard.index() != value.index()) return false;
  if (const double* number = std::get_if<double>(&value)) {
    return *number >= spec.minimum && *number <= spec.maximum &&
           (!spec.is_whole || *number == std::floor(*number));
  }
  if (const std::string* word = std::get_if<std::string>(&value)) {
    return std::find(spec.choices.begin(), spec.choices.end(), *word) != spec.choices.end();
  }
  return true;
}

}  // namespace

Parameters::Parameters(const std::string& kind, const std::vector<ParameterSpec>& specs,
                       const std::map<std::string, ParameterValue>& given) {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : specs) {
    values_[spec.name] = spec.standard;
    names.push_back(spec.name);
  }
  for (const auto& [name, value] : given) {
    const auto spec =
        std::find_if(specs.begin(), specs.end(), [&](const auto& s) { return s.name == name; });
    if (spec == specs.end()) {
      throw Error(ErrorKind::kInvalidParameter, "index '" + kind + "': unknown parameter",
                  "'" + name + "'",
                  names.empty() ? "none, this kind has no parameters" : "one of " + join(names));
    }
    if (!is_allowed(*spec, value)) {
      throw Error(ErrorKind::kInvalidParameter, "index '" + kind + "': parameter " + name,
                  text(value), wanted(*spec));
    }
    values_[name] = value;
  }
}

ParameterSpec whole(std::string name, double standard, double minimum, double maximum,
                    std::string meaning) {
  ParameterSpec spec = real(std::move(name), standard, minimum, maximum, std::move(meaning));
  spec.is_whole = true;
  return spec;
}

ParameterSpec real(std::string name, double standard, double minimum, double maximum,
                   std::string meaning) {
  return {std::move(name), standard, std::move(meaning), minimum, maximum, {}, false};
}

ParameterSpec flag(std::string name, bool standard, std::string meaning) {
  return {std::move(name), standard, std::move(meaning), 0, 0, {}, false};
}

ParameterSpec choice(std::string name, std::vector<std::string> choices, std::string meaning) {
  ParameterValue standard = choices.front();
  return {
      std::move(name), std::move(standard), std::move(meaning), 0, 0, std::move(choices), false};
}

}  // namespace nearcast
