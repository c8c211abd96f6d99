/// Events on their way into the core: lines that msgspec has read into structs, rows of Arrow
/// tables, and what Python reads itself, in one table (engine/event_table.h) and in order.
///
/// What cannot be taken as it is (it may be wrong, or is no plain message) gets a row that is left
/// out, and Python is told: it reads the event once more and puts it, or says what is wrong.
///
/// Everything here needs the GIL. A batch that was applied is closed: it may still be read, without
/// the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bindings/arrow_export.h"
#include "nearcast/engine/event_table.h"

namespace nb = nanobind;

namespace nearcast {

class EventBatch {
 public:
  /// `kinds`: the types of what add_read() gets, in the order of Op. `may_split`: the analyzer has
  /// no options, so that plain keywords are read here.
  EventBatch(nb::handle kinds, bool may_split);

  std::size_t size() const { return table_->size(); }
  /// Rows for values of `kinds`, numbered from `first` on. Returns [(position, row)] of those that
  /// were not taken.
  nb::list add_read(nb::handle values, nb::handle first);
  /// A row that is left out.
  std::size_t add(nb::handle number);
  /// Rows of an Arrow table; those without a number get one from `first` on. Returns the rows that
  /// were not taken. `is_outline`: only what life looks at is wanted, and all of it must be right.
  nb::list add_table(nb::handle given, nb::handle first, bool is_outline);

  void put_message(nb::handle row, nb::handle id, nb::handle text, nb::handle place,
                   nb::handle time, nb::handle expires, nb::handle attributes, nb::handle replaces);
  /// An event as records.py makes it. In a row of a table id, time, expires and replace stay.
  void put_record(nb::handle row, nb::handle record);
  /// What life looks at; the place that a move leads to, or None; the line that has the rest, or
  /// None.
  void put_outline(nb::handle row, nb::handle op, nb::handle id, nb::handle times,
                   nb::handle replaces, nb::handle mode, nb::handle target, nb::handle is_live,
                   nb::handle place, nb::handle line);
  void put_words(nb::handle row, nb::handle words);
  void put_attributes(nb::handle row, nb::handle attributes);
  void put_attribute_text(nb::handle row, nb::handle text);
  void put_time(nb::handle row, nb::handle time);
  void leave_out(nb::handle row);
  void cut(nb::handle rows);

  /// [(row, text)] of messages that are not analysed: all, or those beyond ASCII.
  nb::list texts(bool are_all) const;
  /// [(row, JSON)] of messages whose attributes are not read.
  nb::list attribute_texts() const;
  /// Rows of events that have no time.
  nb::list untimed() const;
  nb::object line(nb::handle row) const;  ///< or None
  std::int64_t number(nb::handle row) const;
  /// The first of the subscriptions read here that is live or top: (id, "live" or "top"), or None.
  nb::object first_lasting() const;

  /// All rows but those left out, as columns.
  AnswerOut columns() const;
  /// Throws if a row lacks what a hub needs.
  void check_whole() const;
  /// The table, which does not change any more.
  std::shared_ptr<const EventTable> closed();

 private:
  EventTable& table();  ///< throws if it is closed
  std::size_t row_from(nb::handle row) const;
  bool take(nb::handle value, std::size_t row);
  bool take_message(nb::handle value, std::size_t row);
  bool take_move(nb::handle value, std::size_t row);
  bool take_subscription(nb::handle value, std::size_t row);
  bool take_id(nb::handle id, EventRow& row);
  void put_text(std::string_view text, bool is_ascii, std::size_t row);

  std::shared_ptr<EventTable> table_ = std::make_shared<EventTable>();
  std::array<nb::object, kOps> kinds_;
  std::vector<std::size_t> foreign_;          ///< rows whose texts are beyond ASCII
  std::vector<std::size_t> with_attributes_;  ///< rows whose attributes are JSON
  std::vector<std::size_t> from_tables_;      ///< first rows that are from a table, and ends
  nb::list kept_;                             ///< what events that were made view
  bool may_split_;
  bool is_closed_ = false;
};

/// The names of ops, as events have them.
constexpr std::array<const char*, kOps> kOpNames{"subscribe", "publish",     "move",
                                                 "retract",   "unsubscribe", "advance"};
constexpr std::array<const char*, kTargets> kTargetNames{nullptr, "point", "box", "shape"};

/// Times below this are seconds (nearcast/times.py).
constexpr double kTimeLimit = 1e11;

/// Whether a box is one: closed, in range.
inline bool is_box(const Rect& box) {
  const auto is_inside = [](double value, double limit) {
    return value >= -limit && value <= limit;
  };
  return is_inside(box.west, 180) && is_inside(box.east, 180) && is_inside(box.south, 90) &&
         is_inside(box.north, 90) && box.south <= box.north;
}

}  // namespace nearcast
