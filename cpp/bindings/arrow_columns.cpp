#include "bindings/arrow_columns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "bindings/arrow_buffers.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/text/utf8.h"

namespace nearcast {
namespace {

constexpr std::int64_t kMostRows = std::int64_t{1} << 56;  // no sum or product of these wraps

std::string listed_names(const ArrowSchema& schema) {
  std::string names;
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    const char* name = schema.children[i]->name;
    names += (i == 0 ? "" : ", ") + std::string(name == nullptr ? "" : name);
  }
  return names.empty() ? "no columns" : names;
}

bool is_named(const ArrowSchema& column, const char* name) {
  return column.name != nullptr && std::strcmp(column.name, name) == 0;
}

void check_lengths(const ArrowCells& cells, const ArrowArray& array) {
  const bool is_right = array.release != nullptr && array.length >= 0 &&
                        array.length <= kMostRows && array.offset >= 0 &&
                        array.offset <= kMostRows && array.n_buffers >= 0 && array.n_children >= 0;
  if (!is_right) {
    refuse_damaged(
        cells,
        "length " + std::to_string(array.length) + ", offset " + std::to_string(array.offset),
        "lengths that can be");
  }
}

/// Half precision: one bit of sign, five of exponent, ten of fraction.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? std::numeric_limits<double>::infinity()
                                                        : std::numeric_limits<double>::quiet_NaN())
                                       : std::ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 != 0 ? -size : size;
}

std::vector<double> converted_numbers(const ArrowCells& cells, ArrowType type,
                                      OwnedColumns& owned) {
  std::vector<double> out;
  out.reserve(cells.size());
  with_number_type(type, [&](auto zero) {
    using Number = decltype(zero);
    for (const Number number : buffer_of<Number>(cells, 1, cells.start, cells.size(), owned))
      out.push_back(type == ArrowType::kHalf ? half_value(static_cast<std::uint16_t>(number))
                                             : static_cast<double>(number));
  });
  return out;
}

}  // namespace

void refuse_damaged(const ArrowCells& cells, const std::string& got, const std::string& wanted) {
  throw Error(cells.kind, "column '" + cells.name + "' is damaged", got, wanted,
              "the library that made the table can validate it");
}

void refuse_row(const ArrowCells& cells, std::size_t row, const std::string& what,
                const std::string& got, const std::string& wanted) {
  throw Error(cells.kind, "row " + std::to_string(row) + ": " + what, got, wanted);
}

void refuse_type(const ArrowCells& cells, const char* wanted) {
  throw Error(cells.kind, "column '" + cells.name + "' has the wrong type",
              type_name(*cells.schema), wanted);
}

ArrowTable::ArrowTable(const ArrowSchema& schema, const ArrowArray& batch, ErrorKind kind)
    : schema_(schema), batch_(batch), kind_(kind) {
  if (batch.release == nullptr) return;
  const ArrowCells root{&schema, &batch, 0, 0, "of the whole table", kind};
  check_lengths(root, batch);
  if (batch.n_children != schema.n_children || (batch.n_children > 0 && batch.children == nullptr))
    refuse_damaged(root, std::to_string(batch.n_children) + " columns",
                   std::to_string(schema.n_children));
  if (nulls_of({&schema, &batch, batch.offset, batch.length, root.name, kind}).has_any())
    throw Error(kind, "rows of the table are null", "a null map", "a table without one");
  start_ = batch.offset;
  rows_ = batch.length;
}

bool ArrowTable::has(const char* name) const {
  for (std::int64_t i = 0; i < schema_.n_children; ++i) {
    if (is_named(*schema_.children[i], name)) return true;
  }
  return false;
}

bool ArrowTable::has_any(std::initializer_list<const char*> names) const {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return has(name); });
}

bool ArrowTable::has_all(std::initializer_list<const char*> names) const {
  return std::all_of(names.begin(), names.end(), [&](const char* name) { return has(name); });
}

ArrowCells ArrowTable::column(const char* name) const {
  std::int64_t found = -1;
  for (std::int64_t i = 0; i < schema_.n_children; ++i) {
    if (!is_named(*schema_.children[i], name)) continue;
    if (found >= 0) {
      throw Error(kind_, "column '" + std::string(name) + "' is there more than once", {},
                  "one " + std::string(name));
    }
    found = i;
  }
  if (found < 0) {
    throw Error(kind_, "column '" + std::string(name) + "' is missing", listed_names(schema_),
                name);
  }
  ArrowCells cells{schema_.children[found], nullptr, 0, 0, name, kind_};
  if (batch_.release == nullptr) return cells;
  const ArrowArray* array = batch_.children[found];
  if (array == nullptr) refuse_damaged(cells, "no array", "one of its type");
  check_lengths(cells, *array);
  if (array->length < start_ + rows_)
    refuse_damaged(cells, std::to_string(array->length) + " rows", std::to_string(start_ + rows_));
  cells.array = array;
  cells.start = start_ + array->offset;
  cells.rows = rows_;
  return cells;
}

void ArrowTable::refuse_others(std::initializer_list<const char*> known) const {
  for (std::int64_t i = 0; i < schema_.n_children; ++i) {
    const ArrowSchema& column = *schema_.children[i];
    const std::string name = column.name == nullptr ? "" : column.name;
    const bool is_known = std::any_of(known.begin(), known.end(),
                                      [&](const char* each) { return is_named(column, each); });
    if (is_known || name.empty() || name.starts_with("__index_level_")) continue;
    std::string wanted;
    for (const char* each : known) wanted += (wanted.empty() ? "only " : ", ") + std::string(each);
    throw Error(kind_, "column '" + name + "' is not understood", {}, wanted,
                "leave the column out, or give it the name that says what it is");
  }
}

ArrowCells cells_of(const ArrowSchema& schema, const ArrowArray& array, std::string name,
                    ErrorKind kind) {
  ArrowCells cells{&schema, &array, 0, 0, std::move(name), kind};
  check_lengths(cells, array);
  cells.start = array.offset;
  cells.rows = array.length;
  return cells;
}

NullMap nulls_of(const ArrowCells& cells) {
  if (cells.rows == 0 || cells.array->null_count == 0) return {};
  const ArrowArray& array = *cells.array;
  if (array.null_count < -1 || array.null_count > array.length)
    refuse_damaged(cells, std::to_string(array.null_count) + " nulls", "at most its rows");
  const bool has_map =
      array.n_buffers > 0 && array.buffers != nullptr && array.buffers[0] != nullptr;
  if (has_map) return {array.buffers[0], cells.start};
  if (array.null_count > 0) refuse_damaged(cells, "nulls without a null map", "a null map");
  return {};
}

void refuse_nulls(const ArrowCells& cells) {
  const NullMap nulls = nulls_of(cells);
  if (!nulls.has_any()) return;
  for (std::size_t row = 0; row < cells.size(); ++row) {
    if (nulls[row]) refuse_row(cells, row, cells.name + " is null", {}, "a value");
  }
}

std::span<const std::uint8_t> null_flags(const ArrowCells& cells, OwnedColumns& owned) {
  const NullMap nulls = nulls_of(cells);
  if (!nulls.has_any()) return {};
  std::vector<std::uint8_t> flags(cells.size());
  bool has_one = false;
  for (std::size_t row = 0; row < cells.size(); ++row) {
    flags[row] = nulls[row];
    has_one |= nulls[row];
  }
  if (!has_one) return {};
  return owned.keep(std::move(flags));
}

std::span<const double> numbers_of(const ArrowCells& cells, OwnedColumns& owned) {
  const ArrowType type = type_of(*cells.schema);
  if (!is_number(type) || cells.schema->dictionary != nullptr) refuse_type(cells, "double");
  if (cells.rows == 0) return {};
  const NullMap nulls = nulls_of(cells);
  if (type == ArrowType::kDouble && !nulls.has_any())
    return buffer_of<double>(cells, 1, cells.start, cells.size(), owned);
  std::vector<double> numbers = converted_numbers(cells, type, owned);
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    if (nulls[row]) numbers[row] = std::numeric_limits<double>::quiet_NaN();
  }
  return owned.keep(std::move(numbers));
}

void check_text(const ArrowCells& cells, const WordColumn& words) {
  if (words.size() == 0) return;
  const auto first = static_cast<std::size_t>(words.offsets.front());
  const auto end = static_cast<std::size_t>(words.offsets.back());
  if (is_ascii({words.bytes.data() + first, end - first})) return;
  const NullMap nulls = nulls_of(cells);
  for (std::size_t row = 0; row < words.size(); ++row) {
    if (nulls[row] || is_utf8(words[row])) continue;
    refuse_row(cells, row, "column '" + cells.name + "'", "bytes that are not UTF-8",
               "text in UTF-8");
  }
}

IdColumn ids_of(const ArrowCells& cells, OwnedColumns& owned) {
  constexpr const char* kWanted = "int64 or string";
  const ArrowType type = type_of(*cells.schema);
  if (cells.schema->dictionary == nullptr && is_integer(type)) {
    refuse_nulls(cells);
    if (type != ArrowType::kUint64) return whole_numbers_of(cells, type, owned);
    const auto numbers = buffer_of<std::uint64_t>(cells, 1, cells.start, cells.size(), owned);
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      if (numbers[row] > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        refuse_row(cells, row, "id is not an id", std::to_string(numbers[row]), "an int64");
    }
    return owned.keep(std::vector<std::int64_t>(numbers.begin(), numbers.end()));
  }
  const WordColumn words = words_of(cells, owned, kWanted);
  refuse_nulls(cells);
  check_text(cells, words);
  for (std::size_t row = 0; row < words.size(); ++row) {
    if (words.offsets[row] == words.offsets[row + 1])
      refuse_row(cells, row, "id is not an id", "''", "a string that is not empty");
  }
  return words;
}

}  // namespace nearcast
