/// Answers on their way out: columns of the core as record batches that any Arrow library takes by
/// `__arrow_c_array__`. Nothing is copied but offsets of words, which become 32 bits wide; so one
/// answer is as many batches as these reach.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nearcast/columns/change_columns.h"
#include "nearcast/columns/columns.h"

namespace nb = nanobind;

namespace nearcast {

/// One column of a batch. It views memory that the batch holds.
struct ColumnOut {
  const char* name;
  const char* format;
  std::vector<const void*> buffers;
  std::int64_t null_count = 0;
};

/// A record batch, which holds its memory.
struct RecordsOut {
  std::vector<ColumnOut> columns;
  std::int64_t rows = 0;
  std::vector<std::shared_ptr<const void>> kept;
};

/// An answer, which may be more than one batch holds.
struct AnswerOut {
  /// Its batches; none has more bytes in a column of strings than these, unless in one row.
  std::function<std::vector<RecordsOut>(std::size_t max_string_bytes)> batches;
};

inline constexpr char kNoByte[1] = {};
inline constexpr const void* kNoBytes = kNoByte;  ///< for empty buffers: some readers refuse null

/// Where each batch ends: as many rows as its strings allow, one at least.
std::vector<std::size_t> batch_ends(std::span<const WordsOut* const> columns, std::size_t rows,
                                    std::size_t max_string_bytes);
/// Words `first` to `end` as type string, whose offsets have 32 bits.
ColumnOut string_column(const char* name, const WordsOut& words, std::size_t first, std::size_t end,
                        RecordsOut& records);

/// Matches: message (its id, or its row counted from `first_row`), subscription and, of rank mode,
/// score.
AnswerOut answer_of(MatchColumns&& matches, bool has_scores, std::size_t first_row,
                    const IdColumn* message_ids);
/// Changes: event (`numbers` by row), subscription, message, change and reason (codes), score or
/// null.
AnswerOut answer_of(ChangeColumns&& changes, std::span<const std::int64_t> numbers);

}  // namespace nearcast
