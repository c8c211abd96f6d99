#include "nearcast/index/registry.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings/bind.h"
#include "nearcast/topk/registry.h"

using namespace nb::literals;

namespace nearcast {

void bind_registry(nb::module_& module) {
  nb::class_<ParameterSpec>(module, "ParameterSpec", "A parameter of an index kind.")
      .def_ro("name", &ParameterSpec::name)
      .def_ro("default", &ParameterSpec::standard)
      .def_ro("meaning", &ParameterSpec::meaning)
      .def_ro("minimum", &ParameterSpec::minimum)
      .def_ro("maximum", &ParameterSpec::maximum)
      .def_ro("choices", &ParameterSpec::choices)
      .def_ro("is_whole", &ParameterSpec::is_whole);
  nb::class_<IndexKind>(
      module, "IndexKind",
      "An index kind: name, summary, parameters, capabilities; for `auto` also the"
      " name of the kind that it stands for, otherwise an empty string.")
      .def_ro("name", &IndexKind::name)
      .def_ro("stands_for", &IndexKind::stands_for)
      .def_ro("summary", &IndexKind::summary)
      .def_ro("parameters", &IndexKind::parameters)
      .def_ro("capabilities", &IndexKind::capabilities);
  module.def("index_kinds", &index_kinds, "All index kinds.");
  nb::class_<ArrivalKind>(module, "ArrivalKind",
                          "How messages find the top lists they enter: name, summary, the expiry"
                          " it is combined with unless another is named.")
      .def_ro("name", &ArrivalKind::name)
      .def_ro("stands_for", &ArrivalKind::stands_for)
      .def_ro("summary", &ArrivalKind::summary)
      .def_ro("expiry", &ArrivalKind::expiry);
  nb::class_<ExpiryKind>(module, "ExpiryKind",
                         "What top lists keep beyond their k best: name, summary.")
      .def_ro("name", &ExpiryKind::name)
      .def_ro("stands_for", &ExpiryKind::stands_for)
      .def_ro("summary", &ExpiryKind::summary);
  module.def("arrival_kinds", &arrival_kinds, "All kinds of top-k arrival.");
  module.def("expiry_kinds", &expiry_kinds, "All kinds of top-k expiry.");
  module.def("top_parameters", &TopTuning::parameters, "Parameters of the top kinds.");
  module.def(
      "build_info",
      [] {
        std::map<std::string, std::string> info;
        info["compiler"] = __VERSION__;
#ifdef __OPTIMIZE__
        info["optimized"] = "yes";
#else
        info["optimized"] = "no";
#endif
#ifdef __SANITIZE_ADDRESS__
        info["sanitizer"] = "address";
#endif
        return info;
      },
      "How this extension was built.");
}

}  // namespace nearcast
