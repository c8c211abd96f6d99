#include "bindings/arrow_import.h"

#include <cstring>
#include <string_view>

namespace nearcast {
namespace {

constexpr const char* kWanted =
    "a table or record batch of pyarrow, Polars, DuckDB or pandas: what has __arrow_c_stream__ or "
    "__arrow_c_array__";

[[noreturn]] void refuse_import(ErrorKind kind, const std::string& noun, const std::string& got,
                                const std::string& wanted) {
  throw Error(kind, noun, got, wanted);
}

/// What a method of the other library returned; its exception becomes ours.
nb::object called(nb::handle value, const char* method, ErrorKind kind, const std::string& noun) {
  try {
    return value.attr(method)();
  } catch (nb::python_error& problem) {
    if (problem.matches(PyExc_MemoryError) || !problem.matches(PyExc_Exception)) throw;
    std::string text;
    try {
      text = nb::cast<std::string>(nb::str(problem.value()));
    } catch (...) {  // an exception without a text
    }
    refuse_import(kind, noun + " cannot be read as Arrow columns",
                  text.empty() ? "an exception" : text, kWanted);
  }
}

/// The struct in a capsule of this name, moved out of it.
template <typename Struct>
ArrowOwner<Struct> taken(nb::handle capsule, const char* name, ErrorKind kind,
                         const std::string& noun) {
  auto* found = PyCapsule_IsValid(capsule.ptr(), name)
                    ? static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name))
                    : nullptr;
  if (found == nullptr || found->release == nullptr) {
    refuse_import(kind, noun, found == nullptr ? "another value" : "a capsule that was used before",
                  std::string("a new capsule '") + name + "'");
  }
  return ArrowOwner<Struct>(*found);
}

std::pair<ArrowOwner<ArrowSchema>, ArrowOwner<ArrowArray>> taken_pair(nb::handle value,
                                                                      ErrorKind kind,
                                                                      const std::string& noun) {
  const nb::object pair = called(value, "__arrow_c_array__", kind, noun);
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2)
    refuse_import(kind, noun, "another value", "two capsules from __arrow_c_array__");
  auto schema = taken<ArrowSchema>(PyTuple_GET_ITEM(pair.ptr(), 0), "arrow_schema", kind, noun);
  return {std::move(schema),
          taken<ArrowArray>(PyTuple_GET_ITEM(pair.ptr(), 1), "arrow_array", kind, noun)};
}

}  // namespace

ArrowBatches::ArrowBatches(nb::handle table, const char* noun, ErrorKind kind)
    : noun_(noun), kind_(kind) {
  if (nb::hasattr(table, "__arrow_c_array__")) {
    take_array(table);
  } else {
    start_stream(table);
  }
  const ArrowSchema& schema = **schema_;
  bool is_table = schema.format != nullptr && std::string_view(schema.format) == "+s" &&
                  schema.n_children >= 0 && (schema.n_children == 0 || schema.children != nullptr);
  for (std::int64_t i = 0; is_table && i < schema.n_children; ++i) {
    const ArrowSchema* column = schema.children[i];
    is_table = column != nullptr && column->format != nullptr && column->release != nullptr;
  }
  if (!is_table) refuse("a schema that is not one of columns");
}

void ArrowBatches::refuse(const std::string& got) const {
  refuse_import(kind_, noun_ + " are not a table", got, kWanted);
}

void ArrowBatches::take_array(nb::handle table) {
  auto [schema, array] = taken_pair(table, kind_, noun_);
  schema_ = std::make_shared<const ArrowOwner<ArrowSchema>>(std::move(schema));
  single_ = std::move(array);
}

void ArrowBatches::start_stream(nb::handle table) {
  if (!nb::hasattr(table, "__arrow_c_stream__"))
    refuse(std::string("a value of type ") + Py_TYPE(table.ptr())->tp_name);
  const nb::object capsule = called(table, "__arrow_c_stream__", kind_, noun_);
  stream_ = taken<ArrowArrayStream>(capsule, "arrow_array_stream", kind_, noun_);
  ArrowSchema schema{};
  int code = 0;
  {
    const nb::gil_scoped_release unlocked;  // its threads may need the GIL
    code = stream_->get_schema(stream_.get(), &schema);
  }
  check_result(code);
  schema_ = std::make_shared<const ArrowOwner<ArrowSchema>>(schema);
}

void ArrowBatches::check_result(int code) {
  if (code == 0) return;
  const char* text = stream_->get_last_error(stream_.get());
  throw Error(kind_, noun_ + ": the stream of batches failed",
              text == nullptr ? "error " + std::to_string(code) : text, "another batch");
}

std::optional<ArrowOwner<ArrowArray>> ArrowBatches::next() {
  const bool is_first = std::exchange(is_first_, false);
  if (single_) return std::exchange(single_, std::nullopt);
  if (!stream_.is_there()) return std::nullopt;
  ArrowArray array{};
  int code = 0;
  {
    const nb::gil_scoped_release unlocked;
    code = stream_->get_next(stream_.get(), &array);
  }
  check_result(code);
  if (array.release != nullptr) return ArrowOwner<ArrowArray>(array);
  stream_ = {};
  return is_first ? std::optional(ArrowOwner<ArrowArray>()) : std::nullopt;
}

ArrowColumn array_from(nb::handle value, const char* noun, ErrorKind kind) {
  if (!nb::hasattr(value, "__arrow_c_array__")) {
    refuse_import(kind, std::string(noun) + " are not a column",
                  std::string("a value of type ") + Py_TYPE(value.ptr())->tp_name,
                  "an Arrow array: what has __arrow_c_array__");
  }
  auto [schema, array] = taken_pair(value, kind, noun);
  if (schema->format == nullptr)
    refuse_import(kind, noun, "a schema without a format", "an Arrow array");
  return {std::make_shared<const ArrowOwner<ArrowSchema>>(std::move(schema)), std::move(array)};
}

}  // namespace nearcast
