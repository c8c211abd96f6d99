/// How a call from Python gets its turn at something guarded, and what happens to the GIL.
///
/// A call waits for the lock without the GIL, and never waits for the GIL while it has the lock. So
/// a long change stops only calls that need what it changes, and there is no deadlock. A short call
/// that need not wait keeps the GIL, since giving it up costs more than the call.
///
/// What runs meanwhile takes and returns values of the core. Views into Python's strings stay valid
/// as long as the caller's arguments hold the strings.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <type_traits>
#include <utility>

#include "nearcast/engine/guarded.h"

namespace nb = nanobind;

namespace nearcast {

/// A short question.
template <typename Inside, typename Question>
auto ask(const Guarded<Inside>& self, Question&& question) {
  std::optional<std::invoke_result_t<Question, const Inside&>> answer;
  if (!self.try_ask([&](const Inside& inside) { answer.emplace(question(inside)); })) {
    const nb::gil_scoped_release unlocked;
    answer.emplace(self.ask(question));
  }
  return *std::move(answer);
}

/// A question that looks at much.
template <typename Inside, typename Question>
auto ask_without_gil(const Guarded<Inside>& self, Question&& question) {
  const nb::gil_scoped_release unlocked;
  return self.ask(question);
}

/// A question that may take seconds: changes wait for it, other questions do not.
template <typename Inside, typename Question>
auto ask_at_length(const Guarded<Inside>& self, Question&& question) {
  const nb::gil_scoped_release unlocked;
  return self.ask_at_length(question);
}

/// A short change.
template <typename Inside, typename Change>
void change(Guarded<Inside>& self, Change&& change) {
  if (self.try_change(change)) return;
  const nb::gil_scoped_release unlocked;
  self.change(change);
}

/// A change of many things.
template <typename Inside, typename Change>
auto change_without_gil(Guarded<Inside>& self, Change&& change) {
  const nb::gil_scoped_release unlocked;
  return self.change(change);
}

}  // namespace nearcast
