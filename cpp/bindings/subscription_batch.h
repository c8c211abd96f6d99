/// Subscriptions of a table on their way into the core: one batch, read and checked.
///
/// Keywords and boxes go as they are, in columns. What only Python can read (expressions, `where`)
/// comes out as texts, each distinct one once, and goes back as what Python has made of it. A table
/// that has more than plain words and boxes then is subscribed row by row.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string_view>
#include <vector>

#include "bindings/arrow_columns.h"
#include "bindings/arrow_import.h"
#include "nearcast/columns/area_rows.h"
#include "nearcast/columns/columns.h"
#include "nearcast/model/condition_plan.h"
#include "nearcast/model/expression.h"
#include "nearcast/model/subscription.h"

namespace nb = nanobind;

namespace nearcast {

/// A column of texts, of which each distinct one is looked at once.
class DistinctTexts {
 public:
  static constexpr std::int32_t kNone = -1;

  DistinctTexts() = default;
  DistinctTexts(const ArrowCells& cells, OwnedColumns& owned);

  std::size_t size() const { return texts_.size(); }
  nb::list listed() const;  ///< (first row, text)
  /// Number of the text of a row; kNone: it is null, or there is no such column.
  std::int32_t of(std::size_t row) const { return of_row_.empty() ? kNone : of_row_[row]; }

 private:
  std::vector<std::int32_t> of_row_;
  std::vector<std::size_t> first_rows_;
  std::vector<std::string_view> texts_;
};

/// What Python has made of a text of keywords: words that are all wanted, or an expression.
struct MadeKeywords {
  std::vector<std::string_view> plain;
  Expression expression;
  bool is_free = false;  ///< a message without any of its words satisfies it
};

/// A table of one batch, with what had to be converted; columns view it.
class SubscriptionTable {
 public:
  explicit SubscriptionTable(nb::handle table);

  const DistinctTexts& expressions() const { return expressions_; }
  const DistinctTexts& wheres() const { return wheres_; }
  /// For each distinct text a list of words or an expression, and whether it is free.
  void put_expressions(nb::handle made);
  void put_wheres(nb::handle made);  ///< for each distinct text an expression

  /// To match: null keywords say that the area or `where` decides, null in all columns of the area
  /// says anywhere. The area is four borders, a circle's centre and radius, or a geometry.
  SubscriptionColumns match_columns();
  /// To rank: nothing but `where` may be null.
  RankSubscriptionColumns rank_columns();

  /// Are columns all there is? If not, rows go one by one: check_row(), wish() and area().
  bool is_plain() const;
  bool has_wheres() const { return wheres_.size() != 0; }
  void check_row(const SubscriptionColumns& columns, std::size_t row) const;
  /// The wish views `words`.
  Wish wish(const SubscriptionColumns& columns, std::size_t row,
            std::vector<std::string_view>& words) const;
  Area area(const SubscriptionColumns& columns, std::size_t row) const;
  const Expression* where(std::size_t row) const;  ///< null: none

 private:
  ArrowTable table() const;
  void check_made() const;
  std::span<const double> numbers(const char* name);
  WordLists keyword_lists(const ArrowCells& cells);
  WordLists made_lists(const WordLists& given, std::span<const std::uint8_t> lacks);
  std::span<const std::uint8_t> lacking(std::initializer_list<const char*> names);
  void read_keywords(SubscriptionColumns& columns);
  void read_areas(SubscriptionColumns& columns);
  const MadeKeywords* expression(std::size_t row) const;  ///< null: none

  std::shared_ptr<const ArrowOwner<ArrowSchema>> schema_;
  ArrowOwner<ArrowArray> batch_;
  OwnedColumns owned_;
  DistinctTexts expressions_, wheres_;
  std::unique_ptr<AreaRows> shapes_;
  nb::list kept_;  ///< what the views of `made` live in
  std::vector<MadeKeywords> made_keywords_;
  std::vector<Expression> made_wheres_;
};

/// A column of ids, of subscriptions that end.
class IdTable {
 public:
  explicit IdTable(nb::handle ids);
  const IdColumn& ids() const { return ids_; }

 private:
  ArrowColumn column_;
  OwnedColumns owned_;
  IdColumn ids_;
};

}  // namespace nearcast
