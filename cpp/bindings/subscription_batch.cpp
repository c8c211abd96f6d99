#include "bindings/subscription_batch.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "bindings/arrow_geometry.h"
#include "bindings/bind.h"
#include "bindings/columns.h"
#include "bindings/expressions.h"
#include "nearcast/columns/reading.h"

using namespace nb::literals;

namespace nearcast {
namespace {

constexpr ErrorKind kRefused = ErrorKind::kInvalidSubscription;
constexpr std::initializer_list<const char*> kBorders = {"west", "south", "east", "north"};
constexpr std::initializer_list<const char*> kCircle = {"lon", "lat", "radius_m"};

[[noreturn]] void refuse_wish(std::size_t row, const std::string& got, const std::string& wanted,
                              const std::string& hint = {}) {
  throw Error(kRefused, "row " + std::to_string(row), got, wanted, hint);
}

}  // namespace

// ---- texts that Python reads ----------------------------------------------------------------

DistinctTexts::DistinctTexts(const ArrowCells& cells, OwnedColumns& owned) {
  const WordColumn words = words_of(cells, owned);
  check_text(cells, words);
  const NullMap nulls = nulls_of(cells);
  std::unordered_map<std::string_view, std::int32_t> known;
  of_row_.assign(cells.size(), kNone);
  for (std::size_t row = 0; row < cells.size(); ++row) {
    if (nulls[row]) continue;
    const auto [found, is_new] =
        known.try_emplace(words[row], static_cast<std::int32_t>(texts_.size()));
    of_row_[row] = found->second;
    if (!is_new) continue;
    first_rows_.push_back(row);
    texts_.push_back(words[row]);
  }
}

nb::list DistinctTexts::listed() const {
  nb::list listed;
  for (std::size_t i = 0; i < texts_.size(); ++i)
    listed.append(nb::make_tuple(first_rows_[i], to_str(texts_[i])));
  return listed;
}

void SubscriptionTable::put_expressions(nb::handle made) {
  const nb::list given = list_from(made, "expressions");
  if (given.size() != expressions_.size())
    refuse_argument("expressions", made, "one for each distinct text");
  std::vector<MadeKeywords> read;
  for (const nb::handle each : given) {
    const nb::tuple parts = tuple_from(each, "expression", 2);
    MadeKeywords& keywords = read.emplace_back();
    keywords_from(parts[0], keywords.plain, keywords.expression);
    if (keywords.plain.empty() && keywords.expression.empty())
      refuse_argument("expression", each, "words or an expression");
    keywords.is_free = PyObject_IsTrue(nb::handle(parts[1]).ptr()) == 1;
  }
  kept_.append(given);
  made_keywords_ = std::move(read);
}

void SubscriptionTable::put_wheres(nb::handle made) {
  const nb::list given = list_from(made, "wheres");
  if (given.size() != wheres_.size()) refuse_argument("wheres", made, "one for each distinct text");
  std::vector<Expression> read;
  for (const nb::handle each : given) read.push_back(expression_from(each, "where"));
  kept_.append(given);
  made_wheres_ = std::move(read);
}

void SubscriptionTable::check_made() const {
  if (made_keywords_.size() != expressions_.size() || made_wheres_.size() != wheres_.size())
    throw Error(kRefused, "subscriptions", "texts that were not read", "put_expressions and so on");
}

const MadeKeywords* SubscriptionTable::expression(std::size_t row) const {
  const std::int32_t number = expressions_.of(row);
  return number == DistinctTexts::kNone ? nullptr
                                        : &made_keywords_[static_cast<std::size_t>(number)];
}

const Expression* SubscriptionTable::where(std::size_t row) const {
  const std::int32_t number = wheres_.of(row);
  return number == DistinctTexts::kNone ? nullptr : &made_wheres_[static_cast<std::size_t>(number)];
}

// ---- columns --------------------------------------------------------------------------------

SubscriptionTable::SubscriptionTable(nb::handle given) {
  ArrowBatches batches(given, "subscriptions", kRefused);
  schema_ = batches.schema();
  batch_ = *batches.next();
  if (batches.next()) {
    throw Error(kRefused, "subscriptions", "a table of several batches",
                "one: all of them are subscribed, or none");
  }
  const ArrowTable rows = table();
  if (rows.has("expression")) expressions_ = DistinctTexts(rows.column("expression"), owned_);
  if (rows.has("where")) wheres_ = DistinctTexts(rows.column("where"), owned_);
}

ArrowTable SubscriptionTable::table() const { return {**schema_, *batch_, kRefused}; }

std::span<const double> SubscriptionTable::numbers(const char* name) {
  return numbers_of(table().column(name), owned_);
}

WordLists SubscriptionTable::keyword_lists(const ArrowCells& cells) {
  ArrowLists found = lists_of(cells, owned_);
  if (found.dictionary != nullptr) {
    std::get<CodedColumn>(found.lists.items).dictionary =
        dictionary_of(*found.dictionary_schema, *found.dictionary, kRefused, owned_);
  }
  return found.lists;
}

/// Words of expressions, where they are plain, together with those that were given as lists.
WordLists SubscriptionTable::made_lists(const WordLists& given,
                                        std::span<const std::uint8_t> lacks) {
  WordsOut words;
  std::vector<std::int64_t> ends{0};
  std::vector<std::string_view> read;
  std::string letters;
  for (std::size_t row = 0; row < table().rows(); ++row) {
    read.clear();
    if (const MadeKeywords* made = expression(row)) {
      read.assign(made->plain.begin(), made->plain.end());
    } else if (!is_flagged(lacks, row)) {
      read_all_words(given, row, letters, read);
    }
    for (const std::string_view word : read) words.push_back(word);
    ends.push_back(static_cast<std::int64_t>(words.size()));
  }
  const auto& offsets = owned_.keep(std::move(ends));
  return {offsets, owned_.keep_words(std::move(words))};
}

/// 1 for each row in which all of these columns are null; empty: there is no such row.
std::span<const std::uint8_t> SubscriptionTable::lacking(std::initializer_list<const char*> names) {
  std::vector<std::uint8_t> lacks(table().rows(), 1);
  for (const char* name : names) {
    const auto nulls = null_flags(table().column(name), owned_);
    if (nulls.empty()) return {};
    for (std::size_t row = 0; row < lacks.size(); ++row) lacks[row] &= nulls[row];
  }
  if (std::find(lacks.begin(), lacks.end(), 1) == lacks.end()) return {};
  return owned_.keep(std::move(lacks));
}

void SubscriptionTable::read_keywords(SubscriptionColumns& columns) {
  const ArrowTable rows = table();
  std::vector<std::uint8_t> lacks(rows.rows(), 1);
  if (rows.has("keywords")) {
    const ArrowCells cells = rows.column("keywords");
    columns.keywords = keyword_lists(cells);
    columns.lacks_keywords = null_flags(cells, owned_);
    if (expressions_.size() == 0) return;
    for (std::size_t row = 0; row < lacks.size(); ++row)
      lacks[row] = is_flagged(columns.lacks_keywords, row);
  }
  for (std::size_t row = 0; row < lacks.size(); ++row) {
    if (expressions_.of(row) == DistinctTexts::kNone) continue;
    if (lacks[row] == 0) refuse_wish(row, "keywords and an expression", "one of the two");
  }
  if (expressions_.size() != 0 && is_plain()) {
    columns.keywords = made_lists(columns.keywords, lacks);
    for (std::size_t row = 0; row < lacks.size(); ++row)
      lacks[row] &= expressions_.of(row) == DistinctTexts::kNone;
  }
  columns.lacks_keywords = owned_.keep(std::move(lacks));
}

void SubscriptionTable::read_areas(SubscriptionColumns& columns) {
  const ArrowTable rows = table();
  const bool has_borders = rows.has_any(kBorders), has_circles = rows.has_any(kCircle);
  const bool has_geometries = rows.has("geometry");
  if (has_borders + has_circles + has_geometries > 1) {
    throw Error(
        kRefused, "columns of areas",
        std::string(has_borders ? "west" : "lon") + " and " + (has_geometries ? "geometry" : "lon"),
        "west, south, east, north, or lon, lat, radius_m, or geometry");
  }
  if (has_geometries) {
    shapes_ = geometries_of(rows.column("geometry"), owned_);
    columns.lacks_area = lacking({"geometry"});
  } else if (has_circles) {
    shapes_ = std::make_unique<CircleRows>(numbers("lon"), numbers("lat"), numbers("radius_m"));
    columns.lacks_area = lacking(kCircle);
  } else if (has_borders) {
    columns.areas = {numbers("west"), numbers("south"), numbers("east"), numbers("north")};
    columns.lacks_area = lacking(kBorders);
  } else {
    columns.lacks_area = owned_.keep(std::vector<std::uint8_t>(rows.rows(), 1));
  }
  columns.shapes = shapes_.get();
}

SubscriptionColumns SubscriptionTable::match_columns() {
  const ArrowTable rows = table();
  rows.refuse_others({"id", "keywords", "expression", "where", "west", "south", "east", "north",
                      "lon", "lat", "radius_m", "geometry"});
  check_made();
  SubscriptionColumns columns;
  columns.rows = rows.rows();
  columns.ids = ids_of(rows.column("id"), owned_);
  read_areas(columns);
  read_keywords(columns);
  return columns;
}

RankSubscriptionColumns SubscriptionTable::rank_columns() {
  const ArrowTable rows = table();
  rows.refuse_others({"id", "keywords", "expression", "where", "west", "south", "east", "north",
                      "alpha", "threshold"});
  check_made();
  RankSubscriptionColumns columns;
  columns.rows = rows.rows();
  columns.ids = ids_of(rows.column("id"), owned_);
  if (expressions_.size() != 0) {
    SubscriptionColumns words;
    read_keywords(words);
    for (std::size_t row = 0; row < columns.rows; ++row) {
      const MadeKeywords* made = expression(row);
      if (made != nullptr && made->plain.empty())
        refuse_wish(row, "an expression", "plain words, which scores need");
    }
    columns.keywords = made_lists(words.keywords, words.lacks_keywords);
  } else {
    const ArrowCells keywords = rows.column("keywords");
    refuse_nulls(keywords);
    columns.keywords = keyword_lists(keywords);
  }
  columns.areas = {numbers("west"), numbers("south"), numbers("east"), numbers("north")};
  columns.alpha = numbers("alpha");
  columns.threshold = numbers("threshold");
  return columns;
}

// ---- rows -----------------------------------------------------------------------------------

bool SubscriptionTable::is_plain() const {
  return wheres_.size() == 0 &&
         std::all_of(made_keywords_.begin(), made_keywords_.end(),
                     [](const MadeKeywords& made) { return made.expression.empty(); });
}

void SubscriptionTable::check_row(const SubscriptionColumns& columns, std::size_t row) const {
  const MadeKeywords* made = expression(row);
  const bool has_area = !is_flagged(columns.lacks_area, row);
  const bool has_list = !is_flagged(columns.lacks_keywords, row);
  if (has_area && columns.shapes != nullptr) {
    columns.shapes->at(row);  // throws if it is none
  } else if (has_area) {
    check_place(kRefused, columns.areas, row);
  }
  if (has_list)
    check_keywords(columns.keywords, row, "null, not an empty list, says that there are none");
  if (has_area || where(row) != nullptr) return;
  if (!has_list && made == nullptr)
    refuse_wish(row, "neither keywords nor an area nor a where", "at least one of them");
  if (made != nullptr && made->is_free) {
    refuse_wish(row, "keywords that a message without any of them satisfies",
                "a keyword without NOT in each alternative, an area or a where",
                "add a word that must be there, as in 'coffee -decaf', or an area");
  }
}

Wish SubscriptionTable::wish(const SubscriptionColumns& columns, std::size_t row,
                             std::vector<std::string_view>& words) const {
  Wish wish;
  words.clear();
  if (const MadeKeywords* made = expression(row)) {
    words.assign(made->plain.begin(), made->plain.end());
    if (!made->expression.empty()) wish.keywords = &made->expression;
  } else if (!is_flagged(columns.lacks_keywords, row)) {
    std::string letters;  // of texts; these are lists
    read_all_words(columns.keywords, row, letters, words);
  }
  wish.plain = words;
  wish.where = where(row);
  return wish;
}

Area SubscriptionTable::area(const SubscriptionColumns& columns, std::size_t row) const {
  if (is_flagged(columns.lacks_area, row)) return Anywhere{};
  if (columns.shapes != nullptr) return columns.shapes->at(row);
  return Rect{columns.areas.west[row], columns.areas.south[row], columns.areas.east[row],
              columns.areas.north[row]};
}

IdTable::IdTable(nb::handle ids) : column_(array_from(ids, "ids", ErrorKind::kUnknownId)) {
  ids_ = ids_of(cells_of(**column_.schema, *column_.array, "id", ErrorKind::kUnknownId), owned_);
}

void bind_subscription_batch(nb::module_& module) {
  nb::class_<SubscriptionTable>(module, "SubscriptionBatch",
                                "A table of subscriptions, of one batch.")
      .def(nb::init<nb::handle>(), "table"_a.none())
      .def(
          "expressions", [](const SubscriptionTable& self) { return self.expressions().listed(); },
          "The distinct texts of keywords: (first row, text).")
      .def(
          "wheres", [](const SubscriptionTable& self) { return self.wheres().listed(); },
          "The distinct texts of where: (first row, text).")
      .def("put_expressions", &SubscriptionTable::put_expressions, "made"_a,
           "For each a list of words or an expression, and whether it needs no word.")
      .def("put_wheres", &SubscriptionTable::put_wheres, "made"_a, "For each an expression.");
}

}  // namespace nearcast
