#include "bindings/table_out.h"

#include <cmath>
#include <utility>

namespace nearcast {
namespace {

/// A bit for each of these rows.
template <typename Test>
const void* bits_of(std::size_t first, std::size_t end, RecordsOut& records, Test&& test) {
  auto bits = std::make_shared<std::vector<std::uint8_t>>((end - first + 7) / 8);
  for (std::size_t row = first; row < end; ++row) {
    const std::size_t bit = row - first;
    if (test(row)) (*bits)[bit / 8] |= static_cast<std::uint8_t>(1 << (bit % 8));
  }
  const void* start = bits->empty() ? kNoBytes : bits->data();
  records.kept.push_back(std::move(bits));
  return start;
}

/// Sets the null map of a column, if a row is null.
template <typename Test>
void mark_nulls(ColumnOut& column, std::size_t first, std::size_t end, RecordsOut& records,
                Test&& is_there) {
  for (std::size_t row = first; row < end; ++row) column.null_count += !is_there(row);
  if (column.null_count > 0) column.buffers[0] = bits_of(first, end, records, is_there);
}

}  // namespace

void TableOut::add_whole(const char* name, std::vector<std::int64_t>&& values) {
  columns_.push_back({name, std::move(values), {}});
}

void TableOut::add_numbers(const char* name, std::vector<double>&& values) {
  columns_.push_back({name, std::move(values), {}});
}

void TableOut::add_truths(const char* name, std::vector<std::uint8_t>&& values) {
  columns_.push_back({name, std::move(values), {}});
}

void TableOut::add_words(const char* name, WordsOut&& words,
                         std::vector<std::uint8_t>&& are_there) {
  columns_.push_back({name, std::move(words), std::move(are_there)});
}

ColumnOut TableOut::exported(const Column& column, std::size_t first, std::size_t end,
                             RecordsOut& records) {
  if (const auto* words = std::get_if<WordsOut>(&column.values)) {
    ColumnOut out = string_column(column.name, *words, first, end, records);
    if (!column.are_there.empty())
      mark_nulls(out, first, end, records,
                 [&](std::size_t row) { return column.are_there[row] != 0; });
    return out;
  }
  if (const auto* truths = std::get_if<std::vector<std::uint8_t>>(&column.values)) {
    const void* bits =
        bits_of(first, end, records, [&](std::size_t row) { return (*truths)[row] == 1; });
    ColumnOut out{column.name, "b", {nullptr, bits}};
    mark_nulls(out, first, end, records, [&](std::size_t row) { return (*truths)[row] != kNull; });
    return out;
  }
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&column.values)) {
    const void* start = whole->empty() ? kNoBytes : whole->data() + first;
    return {column.name, "l", {nullptr, start}};
  }
  const auto& numbers = std::get<std::vector<double>>(column.values);
  const void* start = numbers.empty() ? kNoBytes : numbers.data() + first;
  ColumnOut out{column.name, "g", {nullptr, start}};
  mark_nulls(out, first, end, records, [&](std::size_t row) { return !std::isnan(numbers[row]); });
  return out;
}

AnswerOut TableOut::answer() && {
  auto held = std::make_shared<const TableOut>(std::move(*this));
  return {[held](std::size_t max_string_bytes) {
    std::vector<const WordsOut*> strings;
    for (const Column& column : held->columns_) {
      if (const auto* words = std::get_if<WordsOut>(&column.values)) strings.push_back(words);
    }
    std::vector<RecordsOut> batches;
    std::size_t first = 0;
    for (const std::size_t end : batch_ends(strings, held->rows_, max_string_bytes)) {
      RecordsOut& batch = batches.emplace_back();
      batch.rows = static_cast<std::int64_t>(end - first);
      batch.kept.push_back(held);
      for (const Column& column : held->columns_)
        batch.columns.push_back(exported(column, first, end, batch));
      first = end;
    }
    return batches;
  }};
}

}  // namespace nearcast
