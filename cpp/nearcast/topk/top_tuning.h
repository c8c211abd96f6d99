/// Parameters that change what top lists cost and never what they hold. Tests make them tiny, so
/// that rare cases happen all the time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nearcast/index/parameters.h"

namespace nearcast {

struct TopTuning {
  using Given = std::map<std::string, ParameterValue>;

  bool uses_vectors = true;                ///< if the machine has the instructions
  std::uint32_t most_short = 512;          ///< subscriptions with a token that are read in full
  std::uint32_t most_long_tokens = 24;     ///< of a newcomer that looks up pairs of them
  std::uint32_t frequent_messages = 2048;  ///< with a token: from then on listed by pairs too
  std::string search = "postings";         ///< of live messages: the name of a kind
  std::uint32_t ir_tree_children = 50;     ///< of a node, at most; half as many at least
  double slack_kept = 4, slack_limit = 6;  ///< messages beyond k, in multiples of √k
  double kmax_factor = 3;
  double skyband_share = 0.95;
  std::uint32_t max_cell = 1000;     ///< subscriptions in a cell of igpt and ipt
  std::uint32_t alpha_groups = 10;   ///< of a list of igpt
  std::uint32_t cell_divisions = 4;  ///< around a subscription of ciq

  /// Defaults overlaid with what was given. Throws an invalid-parameter error.
  static TopTuning from(const Given& given);
  static const std::vector<ParameterSpec>& parameters();
};

}  // namespace nearcast
