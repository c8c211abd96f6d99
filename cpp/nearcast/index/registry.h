/// The only list of index kinds. The command line, the benchmark and the contract tests read it, so
/// a kind that is added here is offered, measured and tested.
///
/// `auto` is a name that the library gives to one of the kinds: its row has that kind's parameters
/// and capabilities, and index_kind() and make_index() replace the name by the kind.
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
  /// "match" for all; "learns": uses a message sample; "rank": has a rank index (rank/registry.h);
  /// "moving": keeps messages itself, for live and moving subscriptions; "maps": is mapped when a
  /// snapshot is opened, not built again.
  std::vector<std::string> capabilities;
  std::unique_ptr<MatchIndex> (*make)(const SubscriptionStore& store, const Parameters& parameters);
  std::string stands_for = {};  ///< of `auto`: the name of the kind; empty for a kind
};

const std::vector<IndexKind>& index_kinds();  ///< `auto` first
/// The kind of that name; for `auto`, the kind that it stands for. Throws an invalid-parameter
/// error.
const IndexKind& index_kind(const std::string& name);

std::unique_ptr<MatchIndex> make_index(const std::string& name, const SubscriptionStore& store,
                                       const std::map<std::string, ParameterValue>& parameters);

}  // namespace nearcast
