#include "nearcast/snapshot/snapshot.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>

#include "bindings/arguments.h"
#include "bindings/bind.h"

using namespace nb::literals;

namespace nearcast {

void bind_snapshot(nb::module_& module) {
  module.def(
      "open_snapshot",
      [](const std::string& path, nb::handle verify) {
        const Verify how = verify.is_none()               ? Verify::kIfSmall
                           : truth_from(verify, "verify") ? Verify::kAlways
                                                          : Verify::kNever;
        const nb::gil_scoped_release unlocked;
        Opened opened = open_snapshot(path, how);
        return std::make_pair(std::move(opened.saved), std::move(opened.analyzer));
      },
      "path"_a, "verify"_a.none(),
      "What was saved in a file: a matcher, a hub or life alone; and what the analyzer was.");
}

}  // namespace nearcast
