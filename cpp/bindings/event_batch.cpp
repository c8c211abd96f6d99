#include "bindings/event_batch.h"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>

#include "bindings/attribute_columns.h"
#include "bindings/bind.h"
#include "bindings/columns.h"
#include "bindings/event_records.h"
#include "bindings/expressions.h"
#include "bindings/plain_keywords.h"
#include "nearcast/model/top_score.h"
#include "nearcast/text/timestamp.h"
#include "nearcast/text/utf8.h"

using namespace nb::literals;

namespace nearcast {
namespace {

constexpr std::int64_t kMaxNumber = std::int64_t{1} << 62;

/// Names of fields, made once.
struct Names {
  PyObject *id, *text, *at, *bbox, *attributes, *time, *expires, *replace, *area;
  PyObject *mode, *keywords, *where, *except, *k, *alpha, *threshold, *live;

  static const Names& get() {
    static const Names names = [] {
      const auto make = [](const char* name) { return PyUnicode_InternFromString(name); };
      return Names{make("id"),         make("text"), make("at"),       make("bbox"),
                   make("attributes"), make("time"), make("expires"),  make("replace"),
                   make("area"),       make("mode"), make("keywords"), make("where"),
                   make("except_"),    make("k"),    make("alpha"),    make("threshold"),
                   make("live")};
    }();
    return names;
  }
};

nb::object field(nb::handle value, PyObject* name) {
  PyObject* found = PyObject_GetAttr(value.ptr(), name);
  if (found == nullptr) throw nb::python_error();
  return nb::steal(found);
}

/// None, or a time in seconds. False: it is something else.
bool read_moment(nb::handle value, double& moment) {
  if (value.is_none()) return true;
  if (PyUnicode_CheckExact(value.ptr())) {
    const auto read = read_plain_timestamp(word_from(value, "time"));
    moment = read.value_or(EventRow::kNotGiven);
    return read.has_value();
  }
  if (!PyFloat_CheckExact(value.ptr())) return false;
  moment = PyFloat_AS_DOUBLE(value.ptr());
  return std::isfinite(moment) && moment < kTimeLimit;
}

/// A float, or an int that is not a bool.
bool read_number(PyObject* value, double& number) {
  if (PyFloat_CheckExact(value)) {
    number = PyFloat_AS_DOUBLE(value);
    return true;
  }
  if (!PyLong_CheckExact(value)) return false;
  number = PyLong_AsDouble(value);
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();  // too large
    return false;
  }
  return true;
}

/// So many numbers in a tuple or a list.
template <std::size_t kCount>
bool read_numbers(nb::handle value, std::array<double, kCount>& numbers) {
  PyObject* given = value.ptr();
  const bool is_tuple = PyTuple_CheckExact(given);
  if (!is_tuple && !PyList_CheckExact(given)) return false;
  const Py_ssize_t size = is_tuple ? PyTuple_GET_SIZE(given) : PyList_GET_SIZE(given);
  if (size != static_cast<Py_ssize_t>(kCount)) return false;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto at = static_cast<Py_ssize_t>(i);
    PyObject* item = is_tuple ? PyTuple_GET_ITEM(given, at) : PyList_GET_ITEM(given, at);
    if (!read_number(item, numbers[i])) return false;
  }
  return true;
}

bool read_point(nb::handle value, Rect& box) {
  std::array<double, 2> at;
  if (!read_numbers(value, at)) return false;
  box = {at[0], at[1], at[0], at[1]};
  return is_box(box);
}

bool read_box(nb::handle value, Rect& box) {
  std::array<double, 4> sides;
  if (!read_numbers(value, sides)) return false;
  box = {sides[0], sides[1], sides[2], sides[3]};
  return is_box(box);
}

/// The bytes of a string; none: it has a lone surrogate, or is no string.
std::optional<std::string_view> read_text(nb::handle value) {
  if (!PyUnicode_Check(value.ptr())) return std::nullopt;
  Py_ssize_t bytes = 0;
  const char* letters = PyUnicode_AsUTF8AndSize(value.ptr(), &bytes);
  if (letters != nullptr) return std::string_view{letters, static_cast<std::size_t>(bytes)};
  PyErr_Clear();
  return std::nullopt;
}

/// (lon, lat) or (west, south, east, north).
Rect place_box(nb::handle place) {
  if (tuple_from(place, "place", 2, 4).size() != 2) return box_from(place, "place");
  const Point at = point_from(place, "place");
  return {at.lon, at.lat, at.lon, at.lat};
}

/// The mode of a subscription, or None.
bool read_mode(nb::handle value, ModeId& mode) {
  if (value.is_none()) return true;
  const auto text = read_text(value);
  for (int i = 0; text && i < kModes; ++i) {
    mode = static_cast<ModeId>(i);
    if (*text == name_of(mode)) return true;
  }
  return false;
}

/// A number from 0 to 1.
bool read_share(nb::handle value, double& share) {
  return read_number(value.ptr(), share) && share >= 0 && share <= 1;
}

bool read_k(nb::handle value, std::uint32_t& k) {
  if (!PyLong_CheckExact(value.ptr())) return false;
  const long long number = PyLong_AsLongLong(value.ptr());
  PyErr_Clear();  // what is too large is -1
  k = static_cast<std::uint32_t>(number);
  return number >= 1 && number <= kMaxK;
}

bool are_names(std::span<const Attribute> attributes) {
  return std::all_of(attributes.begin(), attributes.end(),
                     [](const Attribute& each) { return is_attribute_name(each.name); });
}

}  // namespace

EventBatch::EventBatch(nb::handle kinds, bool may_split) : may_split_(may_split) {
  const nb::tuple types = tuple_from(kinds, "kinds", kOps);
  for (std::size_t i = 0; i < kinds_.size(); ++i) kinds_[i] = types[i];
}

EventTable& EventBatch::table() {
  if (is_closed_)
    throw Error(ErrorKind::kInvalidParameter, "batch", "one that was applied", "a new one");
  return *table_;
}

void EventBatch::check_whole() const {
  for (std::size_t row = 0; row < table_->size(); ++row) {
    if ((*table_)[row].is_out || table_->is_whole(row)) continue;
    throw Error(ErrorKind::kInvalidParameter, "row " + std::to_string(row) + " of the batch",
                "an outline", "a whole event");
  }
}

std::shared_ptr<const EventTable> EventBatch::closed() {
  if (!is_closed_) table_->settle();
  is_closed_ = true;
  return table_;
}

std::size_t EventBatch::row_from(nb::handle row) const {
  if (table_->size() == 0) refuse_argument("row", row, "nothing: there are no rows");
  return whole_from(row, "row", 0, table_->size() - 1);
}

std::size_t EventBatch::add(nb::handle number) {
  std::int64_t own = 0;
  if (PyBool_Check(number.ptr()) || !nb::try_cast(number, own, /*convert=*/false))
    refuse_argument("number", number, "an int64");
  return table().add(own);
}

// ---- what msgspec has read ------------------------------------------------------------------

nb::list EventBatch::add_read(nb::handle values, nb::handle first) {
  const nb::list given = list_from(values, "values");
  std::int64_t number = 0;
  if (!nb::try_cast(first, number, /*convert=*/false) || std::abs(number) > kMaxNumber)
    refuse_argument("first", first, "an int64");
  nb::list left;
  EventTable& own = table();
  std::size_t position = 0;
  for (const nb::handle value : given) {
    const std::size_t row = own.add(number++);
    bool is_taken = false;
    try {
      is_taken = take(value, row);
    } catch (const Error&) {  // Python says it in the words of events
    }
    own[row].is_out = !is_taken;
    if (!is_taken) left.append(nb::make_tuple(position, row));
    ++position;
  }
  return left;
}

bool EventBatch::take(nb::handle value, std::size_t row) {
  PyObject* kind = reinterpret_cast<PyObject*>(Py_TYPE(value.ptr()));
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const nb::object& each) { return each.ptr() == kind; });
  if (found == kinds_.end()) return false;
  EventRow& own = (*table_)[row];
  own.op = static_cast<Op>(found - kinds_.begin());
  if (own.op == Op::kPublish) return take_message(value, row);
  if (own.op == Op::kMove) return take_move(value, row);
  if (own.op == Op::kSubscribe) return may_split_ && take_subscription(value, row);
  const Names& names = Names::get();
  if (!read_moment(field(value, names.time), own.time)) return false;
  if (own.op == Op::kAdvance) return !std::isnan(own.time);
  return take_id(field(value, names.id), own);
}

bool EventBatch::take_id(nb::handle id, EventRow& row) {
  const auto text = read_text(id);
  if (!text || text->empty()) return false;
  row.id = table_->keep(*text);
  return true;
}

bool EventBatch::take_message(nb::handle value, std::size_t row) {
  const Names& names = Names::get();
  EventRow& own = (*table_)[row];
  if (!read_moment(field(value, names.time), own.time) ||
      !read_moment(field(value, names.expires), own.expires))
    return false;
  const nb::object at = field(value, names.at), bbox = field(value, names.bbox);
  if (at.is_none() == bbox.is_none()) return false;
  if (!(bbox.is_none() ? read_point(at, own.box) : read_box(bbox, own.box))) return false;
  const nb::object text = field(value, names.text);
  const auto letters = read_text(text);
  if (!letters || !take_id(field(value, names.id), own)) return false;
  const nb::object attributes = field(value, names.attributes);
  if (!attributes.is_none()) {
    const std::vector<Attribute> read = attributes_from(attributes);
    if (nb::len(attributes) > kMaxAttributeNames || !are_names(read)) return false;
    table_->put_attributes(row, read);
  }
  own.replaces = field(value, names.replace).ptr() == Py_True;
  put_text(*letters, PyUnicode_IS_ASCII(text.ptr()) != 0, row);
  return true;
}

void EventBatch::put_text(std::string_view text, bool is_ascii, std::size_t row) {
  (*table_)[row].text = table_->keep(text);
  if (!is_ascii) foreign_.push_back(row);
}

bool EventBatch::take_move(nb::handle value, std::size_t row) {
  const Names& names = Names::get();
  EventRow& own = (*table_)[row];
  if (!read_moment(field(value, names.time), own.time)) return false;
  const nb::object at = field(value, names.at), area = field(value, names.area);
  if (at.is_none() == area.is_none()) return false;
  own.target = area.is_none() ? Target::kPoint : Target::kBox;
  if (!(area.is_none() ? read_point(at, own.box) : read_box(area, own.box))) return false;
  return take_id(field(value, names.id), own);
}

bool EventBatch::take_subscription(nb::handle value, std::size_t row) {
  const Names& names = Names::get();
  EventRow& own = (*table_)[row];
  const auto has = [&](PyObject* name) { return !field(value, name).is_none(); };
  if (has(names.where) || has(names.except) || !read_moment(field(value, names.time), own.time) ||
      !read_moment(field(value, names.expires), own.expires) ||
      !read_mode(field(value, names.mode), own.mode) || !take_id(field(value, names.id), own))
    return false;
  own.replaces = field(value, names.replace).ptr() == Py_True;
  own.is_live = field(value, names.live).ptr() == Py_True;
  PlainKeywords keywords;
  const nb::object said = field(value, names.keywords), area = field(value, names.area);
  if (!said.is_none() && !keywords.read(said)) return false;
  if (!area.is_none() && !read_box(area, own.box)) return false;
  own.has_area = !area.is_none();
  if (own.mode == ModeId::kMatch) {
    if ((said.is_none() && area.is_none()) || has(names.at) || has(names.k) || has(names.alpha) ||
        has(names.threshold))
      return false;
  } else {
    if (said.is_none() || !read_share(field(value, names.alpha), own.alpha)) return false;
    const bool is_top = own.mode == ModeId::kTop;
    if (is_top
            ? own.has_area || own.is_live || has(names.threshold) ||
                  !read_point(field(value, names.at), own.box) ||
                  !read_k(field(value, names.k), own.k)
            : !own.has_area || has(names.at) || has(names.k) ||
                  !read_share(field(value, names.threshold), own.threshold) || own.threshold == 0)
      return false;
  }
  table_->put_words(row, keywords.words());
  own.said = table_->keep(keywords.said());
  own.is_defined = true;
  return true;
}

// ---- what Python has read -------------------------------------------------------------------

void EventBatch::put_message(nb::handle row, nb::handle id, nb::handle text, nb::handle place,
                             nb::handle time, nb::handle expires, nb::handle attributes,
                             nb::handle replaces) {
  EventTable& all = table();
  const std::size_t at = row_from(row);
  EventRow& own = all[at];
  own.op = Op::kPublish;
  own.time = moment_from(time, "time").value_or(EventRow::kNotGiven);
  own.expires = moment_from(expires, "expires").value_or(EventRow::kNotGiven);
  own.replaces = truth_from(replaces, "replaces");
  own.box = place_box(place);
  const std::vector<Attribute> values = attributes_from(attributes);
  const std::string_view letters = word_from(text, "text");
  const std::string_view name = word_from(id, "id");
  if (name.empty()) refuse_argument("id", id, "one that is not empty");
  own.id = all.keep(name);
  all.put_attributes(at, values);
  put_text(letters, PyUnicode_IS_ASCII(text.ptr()) != 0, at);
  own.is_out = false;
}

void EventBatch::put_record(nb::handle row, nb::handle record) {
  EventTable& all = table();
  const std::size_t at = row_from(row);
  EventRow& own = all[at];
  Event event = event_from(record);
  const auto border = std::upper_bound(from_tables_.begin(), from_tables_.end(), at);
  if ((border - from_tables_.begin()) % 2 == 1) {  // between a first row and its end
    if (event.op != own.op || event.id != all.text(own.id))
      refuse_argument("line", record, "the event whose op and id are in the row");
    const auto given = [](double time) {
      return std::isnan(time) ? std::nullopt : std::optional(time);
    };
    event.time = given(own.time);
    event.expires = given(own.expires);
    event.replaces = own.replaces;
  }
  kept_.append(record);
  all.put_made(at, std::move(event));
}

void EventBatch::put_outline(nb::handle row, nb::handle op, nb::handle id, nb::handle times,
                             nb::handle replaces, nb::handle mode, nb::handle target,
                             nb::handle is_live, nb::handle place, nb::handle line) {
  EventTable& all = table();
  EventRow& own = all[row_from(row)];
  const nb::tuple moments = tuple_from(times, "times", 2);
  own.op = static_cast<Op>(whole_from(op, "op", 0, kOps - 1));
  const std::string_view name = word_from(id, "id");
  if (name.empty() && own.op != Op::kAdvance) refuse_argument("id", id, "one that is not empty");
  own.id = all.keep(name);
  own.time = moment_from(moments[0], "time").value_or(EventRow::kNotGiven);
  own.expires = moment_from(moments[1], "expires").value_or(EventRow::kNotGiven);
  own.replaces = truth_from(replaces, "replaces");
  own.mode = static_cast<ModeId>(whole_from(mode, "mode", 0, kModes - 1));
  own.target = static_cast<Target>(whole_from(target, "target", 0, kTargets - 1));
  own.is_live = truth_from(is_live, "live");
  if (!place.is_none()) own.box = place_box(place);
  if (!line.is_none()) own.line = all.keep(word_from(line, "line"));
  own.is_out = false;
}

void EventBatch::put_words(nb::handle row, nb::handle words) {
  EventTable& all = table();
  all.put_words(row_from(row), text_from_list(words));
}

void EventBatch::put_attributes(nb::handle row, nb::handle attributes) {
  EventTable& all = table();
  const std::size_t at = row_from(row);
  const std::vector<Attribute> values = attributes_from(attributes);
  if (!attributes.is_none() && nb::len(attributes) > kMaxAttributeNames)
    refuse_argument("attributes", nb::int_(nb::len(attributes)), "at most 64 names");
  if (!are_names(values)) refuse_argument("attributes", attributes, "names of attributes");
  all.put_attributes(at, values);
}

void EventBatch::put_attribute_text(nb::handle row, nb::handle text) {
  EventTable& all = table();
  all[row_from(row)].attribute_text = all.keep(word_from(text, "attributes"));
}

void EventBatch::put_time(nb::handle row, nb::handle time) {
  EventTable& all = table();
  all.put_time(row_from(row), number_from(time, "time"));
}

void EventBatch::leave_out(nb::handle row) {
  EventTable& all = table();
  all[row_from(row)].is_out = true;
}

void EventBatch::cut(nb::handle rows) {
  EventTable& all = table();
  const std::size_t left = whole_from(rows, "rows", 0, all.size());
  all.cut(left);
  for (auto* known : {&foreign_, &with_attributes_, &from_tables_})
    std::erase_if(*known, [&](std::size_t row) { return row >= left; });
}

// ---- what Python has to read ----------------------------------------------------------------

nb::list EventBatch::texts(bool are_all) const {
  nb::list listed;
  const auto tell = [&](std::size_t row) {
    const EventRow& own = (*table_)[row];
    if (own.op == Op::kPublish && own.made == 0 && !own.is_out && !own.is_analysed)
      listed.append(nb::make_tuple(row, to_str(table_->text(own.text))));
  };
  if (are_all) {
    for (std::size_t row = 0; row < table_->size(); ++row) tell(row);
  } else {
    for (const std::size_t row : foreign_) {
      if (row < table_->size()) tell(row);
    }
  }
  return listed;
}

nb::list EventBatch::attribute_texts() const {
  nb::list listed;
  for (const std::size_t row : with_attributes_) {
    if (row >= table_->size() || (*table_)[row].is_out) continue;
    listed.append(nb::make_tuple(row, to_str(table_->text((*table_)[row].attribute_text))));
  }
  return listed;
}

nb::list EventBatch::untimed() const {
  nb::list rows;
  for (std::size_t row = 0; row < table_->size(); ++row) {
    if (!(*table_)[row].is_out && !table_->has_time(row)) rows.append(row);
  }
  return rows;
}

nb::object EventBatch::line(nb::handle row) const {
  const EventRow& own = (*table_)[row_from(row)];
  if (own.line.size == 0) return nb::none();
  return to_str(table_->text(own.line));
}

nb::object EventBatch::first_lasting() const {
  for (std::size_t row = 0; row < table_->size(); ++row) {
    const EventRow& own = (*table_)[row];
    const bool is_top = own.mode == ModeId::kTop;
    if (own.is_out || !own.is_defined || (!is_top && !own.is_live)) continue;
    return nb::make_tuple(to_str(table_->text(own.id)), is_top ? "top" : "live");
  }
  return nb::none();
}

std::int64_t EventBatch::number(nb::handle row) const { return (*table_)[row_from(row)].number; }

void bind_event_batch(nb::module_& module) {
  nb::class_<EventBatch>(module, "EventBatch", "Events on their way into the core, in order.")
      .def(nb::init<nb::handle, bool>(), "kinds"_a, "may_split"_a)
      .def("__len__", &EventBatch::size)
      .def("add_read", &EventBatch::add_read, "values"_a, "first"_a,
           "Add rows for structs, numbered from first on: [(position, row)] of those not taken.")
      .def("add", &EventBatch::add, "number"_a, "Add a row that is left out until it is put.")
      .def("add_table", &EventBatch::add_table, "table"_a, "first"_a, "is_outline"_a,
           "Add the rows of an Arrow table: those that were not taken.")
      .def("put_message", &EventBatch::put_message, "row"_a, "id"_a, "text"_a, "place"_a,
           "time"_a.none(), "expires"_a.none(), "attributes"_a.none(), "replaces"_a)
      .def("put_record", &EventBatch::put_record, "row"_a, "record"_a,
           "Put an event as records.py makes it.")
      .def("put_outline", &EventBatch::put_outline, "row"_a, "op"_a, "id"_a, "times"_a,
           "replaces"_a, "mode"_a, "target"_a, "live"_a, "place"_a.none(), "line"_a.none(),
           "Put what life looks at, and the line that has the rest.")
      .def("put_words", &EventBatch::put_words, "row"_a, "words"_a,
           "Put the words of a text, None for one that was left out.")
      .def("put_attributes", &EventBatch::put_attributes, "row"_a, "attributes"_a.none())
      .def("put_attribute_text", &EventBatch::put_attribute_text, "row"_a, "text"_a)
      .def("put_time", &EventBatch::put_time, "row"_a, "time"_a)
      .def("leave_out", &EventBatch::leave_out, "row"_a)
      .def("cut", &EventBatch::cut, "rows"_a, "Keep the first rows only.")
      .def("texts", &EventBatch::texts, "are_all"_a,
           "[(row, text)] of messages to analyse: all, or those beyond ASCII.")
      .def("attribute_texts", &EventBatch::attribute_texts,
           "[(row, JSON)] of messages whose attributes are to be read.")
      .def("untimed", &EventBatch::untimed, "Rows of events that have no time.")
      .def("line", &EventBatch::line, "row"_a, "The whole event, where the row has not all of it.")
      .def("number", &EventBatch::number, "row"_a)
      .def("first_lasting", &EventBatch::first_lasting,
           "The first subscription, of those that the core has read, that is live or top: (id, "
           "which of the two), or None.")
      .def("columns", &EventBatch::columns, "All rows but those left out.");
}

}  // namespace nearcast
