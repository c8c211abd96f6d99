#include "nearcast/columns/column_checks.h"

#include <algorithm>
#include <string>

#include "nearcast/columns/area_rows.h"
#include "nearcast/columns/reading.h"

namespace nearcast {
namespace {

[[noreturn]] void refuse_column(ErrorKind kind, const std::string& what, const std::string& got,
                                const std::string& wanted) {
  throw Error(kind, what, got, wanted,
              "the Arrow array is damaged: validate(full=True) says where");
}

std::string column_name(const char* name) { return std::string("column '") + name + "'"; }

void check_size(ErrorKind kind, const char* name, std::size_t size, std::size_t rows) {
  if (size == rows) return;
  refuse_column(kind, column_name(name), std::to_string(size) + " rows", std::to_string(rows));
}

/// The row whose list has item `position`.
std::size_t row_of(std::span<const std::int64_t> offsets, std::size_t position) {
  const auto after =
      std::upper_bound(offsets.begin(), offsets.end(), static_cast<std::int64_t>(position));
  return static_cast<std::size_t>(after - offsets.begin()) - 1;
}

/// Codes that lead to a token, in the lists that are read.
void check_codes(ErrorKind kind, const char* name, const WordLists& lists, const CodedColumn& coded,
                 std::span<const std::uint8_t> lacks_list) {
  if (lists.size() == 0) return;
  const auto begin = static_cast<std::size_t>(lists.offsets.front());
  const auto end = static_cast<std::size_t>(lists.offsets.back());
  std::uint32_t largest = 0;  // as unsigned, negative codes are the largest
  for (std::size_t i = begin; i < end; ++i)
    largest = std::max(largest, static_cast<std::uint32_t>(coded.codes[i]));
  if (begin == end || largest < coded.dictionary.size()) return;
  for (std::size_t i = begin; i < end; ++i) {
    if (static_cast<std::uint32_t>(coded.codes[i]) < coded.dictionary.size()) continue;
    const std::size_t row = row_of(lists.offsets, i);
    if (is_flagged(lacks_list, row)) continue;  // what lies under null may be anything
    refuse_column(kind, "row " + std::to_string(row) + ": " + column_name(name),
                  "code " + std::to_string(coded.codes[i]),
                  "a position in the dictionary, which has " +
                      std::to_string(coded.dictionary.size()) + " words");
  }
}

void check_lists(ErrorKind kind, const char* name, const WordLists& lists, std::size_t rows,
                 std::span<const std::uint8_t> lacks_list) {
  check_size(kind, name, lists.size(), rows);
  if (const auto* coded = std::get_if<CodedColumn>(&lists.items)) {
    check_offsets(kind, name, lists.offsets, coded->codes.size());
    check_codes(kind, name, lists, *coded, lacks_list);
    return;
  }
  const auto& words = std::get<WordColumn>(lists.items);
  check_offsets(kind, name, lists.offsets, words.size());
  check_words(kind, name, words);
}

void check_flags(const char* name, std::span<const std::uint8_t> flags, std::size_t rows) {
  if (!flags.empty()) check_size(ErrorKind::kInvalidSubscription, name, flags.size(), rows);
}

bool all_set(std::span<const std::uint8_t> flags, std::size_t rows) {
  if (flags.size() < rows) return false;
  return std::all_of(flags.begin(), flags.end(), [](std::uint8_t flag) { return flag != 0; });
}

void check_new_ids(const IdColumn& ids, std::size_t rows) {
  check_size(ErrorKind::kInvalidSubscription, "id", size_of(ids), rows);
  check_ids(ErrorKind::kInvalidSubscription, ids);
}

void check_boxes(ErrorKind kind, const PlaceColumns& places, std::size_t rows) {
  check_size(kind, "west", places.west.size(), rows);
  check_size(kind, "south", places.south.size(), rows);
  check_size(kind, "east", places.east.size(), rows);
  check_size(kind, "north", places.north.size(), rows);
}

}  // namespace

void check_offsets(ErrorKind kind, const char* name, std::span<const std::int64_t> offsets,
                   std::size_t limit) {
  if (offsets.empty()) return;
  // Without a branch per row, so that the compiler can look at several at once.
  bool is_wrong = offsets.front() < 0 || static_cast<std::size_t>(offsets.back()) > limit;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) is_wrong |= offsets[i] > offsets[i + 1];
  if (!is_wrong) return;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] >= before && static_cast<std::size_t>(offsets[i]) <= limit) {
      before = offsets[i];
      continue;
    }
    refuse_column(kind, "row " + std::to_string(i == 0 ? 0 : i - 1) + ": " + column_name(name),
                  "offset " + std::to_string(offsets[i]),
                  "one from " + std::to_string(before) + " to " + std::to_string(limit));
  }
}

void check_words(ErrorKind kind, const char* name, const WordColumn& words) {
  check_offsets(kind, name, words.offsets, words.bytes.size());
}

void check_ids(ErrorKind kind, const IdColumn& ids) {
  if (const auto* words = std::get_if<WordColumn>(&ids)) check_words(kind, "id", *words);
}

void check_answers(std::size_t rows, std::span<const std::int64_t> ends, std::size_t answers) {
  check_size(ErrorKind::kInvalidMessage, "ends", ends.size(), rows);
  check_offsets(ErrorKind::kInvalidMessage, "ends", ends, answers);
}

void check_dictionary(ErrorKind kind, const WordLists& lists) {
  if (const auto* coded = std::get_if<CodedColumn>(&lists.items))
    check_words(kind, "dictionary", coded->dictionary);
}

void check_counts(std::uint64_t documents, const WordColumn& words,
                  std::span<const std::int64_t> df) {
  check_words(ErrorKind::kInvalidParameter, "words", words);
  check_size(ErrorKind::kInvalidParameter, "counts", df.size(), words.size());
  for (std::size_t i = 0; i < df.size(); ++i) {
    if (df[i] >= 0 && static_cast<std::uint64_t>(df[i]) <= documents) continue;
    throw Error(ErrorKind::kInvalidParameter, "weights: df of " + quoted(ExternalId(words[i])),
                std::to_string(df[i]),
                "a number from 0 to the documents, which are " + std::to_string(documents));
  }
}

namespace {

void check_attributes(const AttributeColumns& attributes, std::size_t rows) {
  constexpr ErrorKind kKind = ErrorKind::kInvalidMessage;
  if (attributes.empty()) return;
  const std::size_t count = attributes.kinds.size();
  check_size(kKind, "attributes", attributes.offsets.size() - 1, rows);
  check_offsets(kKind, "attributes", attributes.offsets, count);
  check_size(kKind, "names of attributes", attributes.names.size(), count);
  check_size(kKind, "numbers of attributes", attributes.numbers.size(), count);
  check_size(kKind, "texts of attributes", attributes.texts.size(), count);
  check_words(kKind, "names of attributes", attributes.names);
  check_words(kKind, "texts of attributes", attributes.texts);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = attributes.names[i];
    if (attributes.kinds[i] <= static_cast<std::uint8_t>(ValueKind::kNoTexts) &&
        std::isfinite(attributes.numbers[i]) && !name.empty() &&
        name.find('\0') == std::string_view::npos)
      continue;
    throw Error(kKind, "attribute " + std::to_string(i), "a value that is none",
                "a name, and a finite number, a text or a truth value");
  }
}

}  // namespace

void check_columns(const MessageColumns& messages) {
  constexpr ErrorKind kKind = ErrorKind::kInvalidMessage;
  const PlaceColumns& places = messages.places;
  if (places.are_points()) {
    check_size(kKind, "lon", places.west.size(), messages.rows);
    check_size(kKind, "lat", places.south.size(), messages.rows);
  } else {
    check_boxes(kKind, places, messages.rows);
  }
  if (const auto* lists = std::get_if<WordLists>(&messages.texts)) {
    check_lists(kKind, "tokens", *lists, messages.rows, {});
  } else {
    const auto& texts = std::get<WordColumn>(messages.texts);
    check_size(kKind, "text", texts.size(), messages.rows);
    check_words(kKind, "text", texts);
  }
  check_attributes(messages.attributes, messages.rows);
  check_places(messages);
}

void check_columns(const SubscriptionColumns& rows) {
  check_new_ids(rows.ids, rows.rows);
  check_flags("lacks_keywords", rows.lacks_keywords, rows.rows);
  check_flags("lacks_area", rows.lacks_area, rows.rows);
  if (rows.keywords.offsets.empty() && all_set(rows.lacks_keywords, rows.rows)) {
    // No such column: the area decides in every row.
  } else {
    check_lists(ErrorKind::kInvalidSubscription, "keywords", rows.keywords, rows.rows,
                rows.lacks_keywords);
    check_dictionary(ErrorKind::kInvalidSubscription, rows.keywords);
  }
  if (rows.shapes != nullptr) {
    check_size(ErrorKind::kInvalidSubscription, "geometry", rows.shapes->size(), rows.rows);
  } else if (rows.areas.size() != 0 || !all_set(rows.lacks_area, rows.rows)) {
    check_boxes(ErrorKind::kInvalidSubscription, rows.areas, rows.rows);
  }
}

void check_columns(const RankSubscriptionColumns& rows) {
  constexpr ErrorKind kKind = ErrorKind::kInvalidSubscription;
  check_new_ids(rows.ids, rows.rows);
  check_lists(kKind, "keywords", rows.keywords, rows.rows, {});
  check_dictionary(kKind, rows.keywords);
  check_boxes(kKind, rows.areas, rows.rows);
  check_size(kKind, "alpha", rows.alpha.size(), rows.rows);
  check_size(kKind, "threshold", rows.threshold.size(), rows.rows);
}

}  // namespace nearcast
