/// Batches as columns: how many messages or subscriptions cross the border at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nearcast/base/column_vector.h"
#include "nearcast/base/work_counters.h"
#include "nearcast/geo/place.h"

namespace nearcast {

/// Words in Arrow's form: word i has bytes [offsets[i], offsets[i + 1]).
struct WordColumn {
  std::span<const std::int64_t> offsets;
  std::span<const char> bytes;

  std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    return {bytes.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

/// Words in Arrow's form, growing.
struct WordsOut {
  std::vector<std::int64_t> offsets{0};
  std::string bytes;

  void push_back(std::string_view word) {
    bytes += word;
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  std::size_t size() const { return offsets.size() - 1; }
  std::string_view operator[](std::size_t i) const { return WordColumn{offsets, bytes}[i]; }
};

/// Words that come as positions in a dictionary.
struct CodedColumn {
  std::span<const std::int32_t> codes;
  WordColumn dictionary;
  /// The tokens of the dictionary's words, by code (kUnknownToken: no such word), as they were when
  /// the vocabulary had this version; empty: not looked up.
  std::span<const std::uint32_t> tokens;
  std::uint64_t version = 0;
};

/// Lists of words: row i has items [offsets[i], offsets[i + 1]).
struct WordLists {
  std::span<const std::int64_t> offsets;
  std::variant<WordColumn, CodedColumn> items;

  std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
};

/// What messages say: lists of words, or text that is split into words here (text/splitter.h).
using TextColumn = std::variant<WordLists, WordColumn>;

/// Boxes in four columns, or points in two (east and north are empty).
struct PlaceColumns {
  std::span<const double> west, south, east, north;

  bool are_points() const { return east.empty(); }
  std::size_t size() const { return west.size(); }
  Place operator[](std::size_t i) const {
    return are_points() ? Place::at({west[i], south[i]})
                        : Place::box({west[i], south[i], east[i], north[i]});
  }
};

using IdColumn = std::variant<std::span<const std::int64_t>, WordColumn>;

class AreaRows;

struct SubscriptionColumns {
  IdColumn ids;
  WordLists keywords;
  PlaceColumns areas;
  const AreaRows* shapes = nullptr;              ///< instead of boxes: columns/area_rows.h
  std::span<const std::uint8_t> lacks_keywords;  ///< 1: the area alone decides; empty: none does
  std::span<const std::uint8_t> lacks_area;      ///< 1: anywhere; empty: none is
  std::size_t rows = 0;
};

struct RankSubscriptionColumns {
  IdColumn ids;
  WordLists keywords;
  PlaceColumns areas;
  std::span<const double> alpha, threshold;
  std::size_t rows = 0;
};

/// Attributes of messages (model/attribute.h), all in a row: message i has those from offsets[i] to
/// offsets[i + 1], those of one list side by side.
struct AttributeColumns {
  std::span<const std::int64_t> offsets;  ///< empty: no message has any
  WordColumn names;
  std::span<const std::uint8_t> kinds;  ///< ValueKind
  std::span<const double> numbers;      ///< 0 where the value is a text
  WordColumn texts;                     ///< empty where it is none

  bool empty() const { return offsets.empty(); }
};

struct MessageColumns {
  TextColumn texts;
  PlaceColumns places;
  std::size_t rows = 0;
  AttributeColumns attributes{};
};

/// Matches as rows, with the work they took.
struct MatchColumns {
  ColumnVector<std::int64_t> message;  ///< row of the message in its batch
  ColumnVector<std::int64_t> number;   ///< ids of subscriptions, when they are numbers
  WordsOut words;                      ///< ids of subscriptions, when they are words
  bool has_words = false;
  std::vector<double> score;  ///< of ranked messages
  WorkCounters work;
  std::vector<std::int64_t> nanoseconds;  ///< per message, if asked for
  double cpu_seconds = 0;
};

}  // namespace nearcast
