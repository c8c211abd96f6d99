/// The ONE list of index kinds. A kind that stands here is in the command line, in the benchmark
/// and in the contract tests without another word.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nearcast/index/match_index.h"
#include "nearcast/index/parameters.h"

namespace nearcast {

struct IndexKind {
  std::string name;
  std::string summary;
  std::vector<ParameterSpec> parameters;
  /// "match" for all; "learns": uses a message sample; "rank": ranks itself, see rank/registry.h;
  /// "moving": keeps messages itself, for live and moving subscriptions; "maps": is mapped when a
  /// snapshot is opened, not built again.
  std::vector<std::string> capabilities;
  std::unique_ptr<MatchIndex> (*make)(const SubscriptionStore& store, const Parameters& parameters);
};

const std::vector<IndexKind>& index_kinds();
const IndexKind& index_kind(const std::string& name);  ///< throws an invalid-parameter error

std::unique_ptr<MatchIndex> make_index(const std::string& name, const SubscriptionStore& store,
                                       const std::map<std::string, ParameterValue>& parameters);

}  // namespace nearcast
