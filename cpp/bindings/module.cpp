#include "bindings/bind.h"

NB_MODULE(_core, module) {
  module.doc() =
      "The per-message inner loop of nearcast. Not for direct use: see nearcast.Matcher and Hub.";
  nearcast::bind_errors(module);
  nearcast::bind_registry(module);
  nearcast::bind_engine(module);
  nearcast::bind_rank_engine(module);
  nearcast::bind_snapshot(module);
  nearcast::bind_hub(module);
  nearcast::bind_top_stream(module);
}
