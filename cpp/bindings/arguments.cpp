#include "bindings/arguments.h"

#include <cmath>

#include "nearcast/base/errors.h"
#include "nearcast/base/number_text.h"

namespace nearcast {
namespace {

std::string shown(nb::handle value) {
  try {
    const nb::object text = nb::module_::import_("nearcast.errors").attr("shown")(value);
    Py_ssize_t bytes = 0;
    const char* letters = PyUnicode_AsUTF8AndSize(text.ptr(), &bytes);
    if (letters != nullptr) return {letters, static_cast<std::size_t>(bytes)};
    PyErr_Clear();
  } catch (nb::python_error&) {  // a value that cannot be shown is named by its type
  }
  return std::string("a value of type ") + Py_TYPE(value.ptr())->tp_name;
}

std::string range_text(double low, double high) {
  if (high == std::numeric_limits<double>::max()) {
    return low == -high ? "a finite number" : "a finite number from " + number_text(low) + " on";
  }
  return "a number from " + number_text(low) + " to " + number_text(high);
}

}  // namespace

void refuse_argument(const char* name, nb::handle got, const std::string& wanted) {
  throw Error(ErrorKind::kInvalidParameter, name, shown(got), wanted);
}

nb::tuple tuple_from(nb::handle value, const char* name, std::size_t least, std::size_t most) {
  if (PyTuple_Check(value.ptr())) {
    const auto size = static_cast<std::size_t>(PyTuple_GET_SIZE(value.ptr()));
    if (size >= least && size <= most) return nb::borrow<nb::tuple>(value);
  }
  std::string wanted = "a tuple of " + std::to_string(least);
  if (most > least) wanted += " to " + std::to_string(most);
  refuse_argument(name, value, wanted);
}

nb::list list_from(nb::handle value, const char* name) {
  if (!PyList_Check(value.ptr())) refuse_argument(name, value, "a list");
  return nb::borrow<nb::list>(value);
}

std::string_view word_from(nb::handle value, const char* name) {
  if (PyUnicode_Check(value.ptr())) {
    Py_ssize_t bytes = 0;
    const char* letters = PyUnicode_AsUTF8AndSize(value.ptr(), &bytes);
    if (letters != nullptr) return {letters, static_cast<std::size_t>(bytes)};
    PyErr_Clear();  // a lone surrogate
  }
  refuse_argument(name, value, "a string without lone surrogates");
}

double number_from(nb::handle value, const char* name, double low, double high) {
  double number = 0;
  if (PyFloat_CheckExact(value.ptr())) {
    number = PyFloat_AS_DOUBLE(value.ptr());
  } else if (PyBool_Check(value.ptr())) {
    refuse_argument(name, value, range_text(low, high));
  } else {
    number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      refuse_argument(name, value, range_text(low, high));
    }
  }
  if (!(number >= low && number <= high)) refuse_argument(name, value, range_text(low, high));
  return number;  // also refused: NaN
}

std::uint64_t whole_from(nb::handle value, const char* name, std::uint64_t low,
                         std::uint64_t high) {
  if (PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr())) {
    const std::uint64_t number = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();  // negative, or of more than 64 bits
    } else if (number >= low && number <= high) {
      return number;
    }
  }
  refuse_argument(name, value,
                  "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

bool truth_from(nb::handle value, const char* name) {
  if (!PyBool_Check(value.ptr())) refuse_argument(name, value, "True or False");
  return value.ptr() == Py_True;
}

Point point_from(nb::handle value, const char* name) {
  const nb::tuple at = tuple_from(value, name, 2);
  return {number_from(at[0], "longitude", -180, 180), number_from(at[1], "latitude", -90, 90)};
}

Rect box_from(nb::handle value, const char* name) {
  const nb::tuple sides = tuple_from(value, name, 4);
  const Rect box{number_from(sides[0], "west", -180, 180), number_from(sides[1], "south", -90, 90),
                 number_from(sides[2], "east", -180, 180), number_from(sides[3], "north", -90, 90)};
  if (box.south > box.north) refuse_argument(name, value, "south at most north");
  return box;
}

Rect space_from(nb::handle value) {
  const Rect box = box_from(value, "space");
  if (box.west > box.east || (box.west == box.east && box.south == box.north))
    refuse_argument("space", value, "west at most east, and some extent");
  return box;
}

}  // namespace nearcast
