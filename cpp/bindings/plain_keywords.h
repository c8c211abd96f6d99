/// Keywords as most subscriptions have them: words of ASCII letters and digits, in a list or with single
/// spaces between them, all of them wanted. nearcast/keywords.py reads these alike, and all others.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace nb = nanobind;

namespace nearcast {

class PlainKeywords {
 public:
  static constexpr std::size_t kMost = 64;  ///< words

  /// False: they are not plain, or are not keywords.
  bool read(nb::handle keywords);

  /// Lowered, distinct.
  const std::vector<std::string_view>& words() const { return words_; }
  /// As nearcast/said.py writes it; empty: the words tell it.
  const std::string& said() const { return said_; }

 private:
  bool read_text(std::string_view text);
  bool read_list(nb::handle entries);
  bool add(std::string_view word);
  void lower();

  std::string letters_;  ///< of all words, one after the other
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> words_;
  std::string said_;
};

}  // namespace nearcast
