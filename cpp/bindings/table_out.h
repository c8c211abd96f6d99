/// A table of columns that the core has made, on its way out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bindings/arrow_export.h"

namespace nearcast {

class TableOut {
 public:
  explicit TableOut(std::size_t rows) : rows_(rows) {}

  /// Names are literals, and each column has a value for each row.
  void add_whole(const char* name, std::vector<std::int64_t>&& values);
  void add_numbers(const char* name, std::vector<double>&& values);  ///< NaN: null
  /// 0, 1, or kNull.
  void add_truths(const char* name, std::vector<std::uint8_t>&& values);
  /// `are_there`: 0 for null; empty: none is.
  void add_words(const char* name, WordsOut&& words, std::vector<std::uint8_t>&& are_there = {});

  static constexpr std::uint8_t kNull = 2;

  AnswerOut answer() &&;

 private:
  struct Column {
    const char* name;
    std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::uint8_t>,
                 WordsOut>
        values;
    std::vector<std::uint8_t> are_there;  ///< of words
  };
  static ColumnOut exported(const Column& column, std::size_t first, std::size_t end,
                            RecordsOut& records);

  std::size_t rows_;
  std::vector<Column> columns_;
};

}  // namespace nearcast
