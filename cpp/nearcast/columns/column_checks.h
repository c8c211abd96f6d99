/// Is a batch what it says it is? Lengths, offsets and codes of every column, looked at once before
/// anything is read: a wrong one would lead the reader to foreign memory.
///
/// Nothing is asked of rows that are null: what lies under them is never read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nearcast/base/errors.h"
#include "nearcast/columns/columns.h"

namespace nearcast {

/// Offsets that ascend, from 0 on, to at most `limit`; an error names the column and the row.
void check_offsets(ErrorKind kind, const char* name, std::span<const std::int64_t> offsets,
                   std::size_t limit);
void check_words(ErrorKind kind, const char* name, const WordColumn& words);
void check_ids(ErrorKind kind, const IdColumn& ids);
/// Where the known answer of each message ends.
void check_answers(std::size_t rows, std::span<const std::int64_t> ends, std::size_t answers);
/// The words behind codes. Apart from check_columns(): messages bring tokens as well, which spare
/// the words, and the words may be many more than the batch has.
void check_dictionary(ErrorKind kind, const WordLists& lists);
/// One count of documents for each word, none negative, none above `documents`.
void check_counts(std::uint64_t documents, const WordColumn& words,
                  std::span<const std::int64_t> df);

void check_columns(const MessageColumns& messages);
void check_columns(const SubscriptionColumns& rows);
void check_columns(const RankSubscriptionColumns& rows);

}  // namespace nearcast
