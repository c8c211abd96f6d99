#include "nearcast/topk/top_tuning.h"

namespace nearcast {

const std::vector<ParameterSpec>& TopTuning::parameters() {
  static const TopTuning standard;
  static const std::vector<ParameterSpec> all = {
      choice("kernels", {"best", "plain"}, "vector instructions if there are, or none"),
      whole("most_short", standard.most_short, 1, 1e9,
            "bounded-lists: up to so many subscriptions with a token are read in full"),
      whole("most_long_tokens", standard.most_long_tokens, 1, 1e6,
            "bounded-lists: a message with more frequent tokens is not looked up by pairs of them"),
      whole("frequent_messages", standard.frequent_messages, 1, 1e9,
            "a token of so many live messages is frequent: they are listed by pairs too"),
      choice("search", {"postings", "ir-tree"}, "how live messages are searched for a list"),
      whole("ir_tree_children", standard.ir_tree_children, 4, 1000,
            "search ir-tree: most children of a node"),
      real("slack_kept", standard.slack_kept, 0, 1e6,
           "slack: a search finds so many times √k messages beyond k"),
      real("slack_limit", standard.slack_limit, 0, 1e6,
           "slack: so many times √k beyond k, and the buffer is cut back"),
      real("kmax_factor", standard.kmax_factor, 1, 1e6, "kmax: so many times k are kept"),
      real("skyband_share", standard.skyband_share, 0, 1,
           "skyband: what is kept reaches this share of the k-th best score"),
      whole("max_cell", standard.max_cell, 1, 1e9,
            "igpt, ipt: a cell with more subscriptions is divided"),
      whole("alpha_groups", standard.alpha_groups, 1, 16,
            "igpt: groups of similar alpha in a list"),
      whole("cell_divisions", standard.cell_divisions, 1, 15,
            "ciq: how often the cell around a subscription is divided"),
  };
  return all;
}

TopTuning TopTuning::from(const Given& given) {
  const Parameters read("topk", parameters(), given);
  const auto count = [&](const char* name) {
    return static_cast<std::uint32_t>(read.number(name));
  };
  TopTuning tuning;
  tuning.uses_vectors = read.word("kernels") == "best";
  tuning.most_short = count("most_short");
  tuning.most_long_tokens = count("most_long_tokens");
  tuning.frequent_messages = count("frequent_messages");
  tuning.search = read.word("search");
  tuning.ir_tree_children = count("ir_tree_children");
  tuning.slack_kept = read.number("slack_kept");
  tuning.slack_limit = read.number("slack_limit");
  tuning.kmax_factor = read.number("kmax_factor");
  tuning.skyband_share = read.number("skyband_share");
  tuning.max_cell = count("max_cell");
  tuning.alpha_groups = count("alpha_groups");
  tuning.cell_divisions = count("cell_divisions");
  return tuning;
}

}  // namespace nearcast
