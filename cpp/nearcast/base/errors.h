/// Typed errors with the four parts that a person needs: what, got, wanted, hint.
/// The binding turns each kind into the Python class of the same meaning (nearcast.errors).
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace nearcast {

enum class ErrorKind {
  kInvalidSubscription,
  kInvalidMessage,
  kInvalidParameter,
  kDuplicateId,
  kUnknownId,
  kSnapshot,
  kUnsupported,
  kCapacity,
  kInternal,
};

struct Error : std::runtime_error {
  Error(ErrorKind error_kind, std::string what_is_wrong, std::string got_text = {},
        std::string wanted_text = {}, std::string hint_text = {})
      : std::runtime_error(what_is_wrong),
        kind(error_kind),
        got(std::move(got_text)),
        wanted(std::move(wanted_text)),
        hint(std::move(hint_text)) {}

  ErrorKind kind;
  std::string got, wanted, hint;  ///< empty: nothing to say
};

/// A structure cannot count or address any more. Thrown before anything changes.
[[noreturn]] inline void too_large(const std::string& what, const std::string& got,
                                   const std::string& wanted) {
  throw Error(ErrorKind::kCapacity, what, got, wanted,
              "divide subscriptions or messages among several hubs or matchers");
}

/// Our own bug, never the user's: a structure is not as it must be.
[[noreturn]] inline void broken(const std::string& what) {
  throw Error(ErrorKind::kInternal, what, {}, {}, "this is a bug in nearcast: please report it");
}

inline void ensure(bool holds, const char* what) {
  if (!holds) broken(what);
}

}  // namespace nearcast
