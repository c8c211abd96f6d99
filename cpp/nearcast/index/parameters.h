/// Parameters of index kinds: declared once with default and bounds, checked before any index is
/// made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace nearcast {

using ParameterValue = std::variant<bool, double, std::string>;
using GivenParameters = std::map<std::string, ParameterValue>;  ///< by name, as a user gives them

struct ParameterSpec {
  std::string name;
  ParameterValue standard;  ///< its type is the parameter's type
  std::string meaning;
  double minimum = 0, maximum = 0;   ///< of a number
  std::vector<std::string> choices;  ///< of a word
  bool is_whole = false;             ///< of a number: no fraction
};

class Parameters {
 public:
  /// Defaults overlaid with what was given. Throws an invalid-parameter error in the name of
  /// `kind`.
  Parameters(const std::string& kind, const std::vector<ParameterSpec>& specs,
             const std::map<std::string, ParameterValue>& given);

  bool flag(const std::string& name) const { return std::get<bool>(values_.at(name)); }
  double number(const std::string& name) const { return std::get<double>(values_.at(name)); }
  std::size_t count(const std::string& name) const {
    return static_cast<std::size_t>(number(name));
  }
  const std::string& word(const std::string& name) const {
    return std::get<std::string>(values_.at(name));
  }
  const std::map<std::string, ParameterValue>& all() const { return values_; }

 private:
  std::map<std::string, ParameterValue> values_;
};

ParameterSpec whole(std::string name, double standard, double minimum, double maximum,
                    std::string meaning);
ParameterSpec real(std::string name, double standard, double minimum, double maximum,
                   std::string meaning);
ParameterSpec flag(std::string name, bool standard, std::string meaning);
ParameterSpec choice(std::string name, std::vector<std::string> choices,
                     std::string meaning);  ///< first: default

}  // namespace nearcast
