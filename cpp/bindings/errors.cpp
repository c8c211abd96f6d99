#include "nearcast/base/errors.h"

#include <typeinfo>

#include "bindings/bind.h"

namespace nearcast {
namespace {

const char* class_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidSubscription:
      return "InvalidSubscriptionError";
    case ErrorKind::kInvalidMessage:
      return "InvalidMessageError";
    case ErrorKind::kInvalidParameter:
      return "InvalidParameterError";
    case ErrorKind::kDuplicateId:
      return "DuplicateIdError";
    case ErrorKind::kUnknownId:
      return "UnknownIdError";
    case ErrorKind::kSnapshot:
      return "SnapshotError";
    case ErrorKind::kUnsupported:
      return "UnsupportedError";
    case ErrorKind::kCapacity:
      return "CapacityError";
    case ErrorKind::kInternal:
      return "InternalError";
  }
  return "InternalError";
}

nb::object text_or_none(const std::string& text) {
  return text.empty() ? nb::none() : nb::object(nb::str(text.c_str()));
}

}  // namespace

nb::object to_python(const Error& error) {
  const nb::module_ errors = nb::module_::import_("nearcast.errors");
  nb::dict parts;
  parts["got"] = error.got.empty() ? nb::none() : errors.attr("Verbatim")(text_or_none(error.got));
  parts["wanted"] = text_or_none(error.wanted);
  parts["hint"] = text_or_none(error.hint);
  return errors.attr(class_name(error.kind))(nb::str(error.what()), **parts);
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const nb::object made = to_python(error);
      PyErr_SetObject(made.type().ptr(), made.ptr());
    } catch (const std::bad_cast&) {  // nanobind's, for a value that has the wrong type
      const Error error(ErrorKind::kInvalidParameter, "a value has the wrong type");
      const nb::object made = to_python(error);
      PyErr_SetObject(made.type().ptr(), made.ptr());
    }
  });
}

}  // namespace nearcast
