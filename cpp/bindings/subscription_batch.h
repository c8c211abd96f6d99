/// Subscriptions of a table on their way into the core: one batch, read and checked.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "bindings/arrow_columns.h"
#include "bindings/arrow_import.h"
#include "nearcast/columns/area_rows.h"
#include "nearcast/columns/columns.h"

namespace nb = nanobind;

namespace nearcast {

/// A table of one batch, with what had to be converted; columns view it.
class SubscriptionTable {
 public:
  explicit SubscriptionTable(nb::handle table);

  /// To match: null keywords say that the area alone decides, null in all columns of the area says
  /// anywhere. The area is four borders, a circle's centre and radius, or a geometry.
  SubscriptionColumns match_columns();
  /// To rank: nothing may be null.
  RankSubscriptionColumns rank_columns();

 private:
  ArrowTable table() const;
  std::span<const double> numbers(const char* name);
  WordLists keyword_lists(const ArrowCells& cells);
  void read_areas(SubscriptionColumns& columns);
  /// 1 for each row that is null in all these columns; empty: none is.
  std::span<const std::uint8_t> lacking(std::initializer_list<const char*> names);

  std::shared_ptr<const ArrowOwner<ArrowSchema>> schema_;
  ArrowOwner<ArrowArray> batch_;
  OwnedColumns owned_;
  std::unique_ptr<AreaRows> shapes_;
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
