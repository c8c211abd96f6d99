#include "nearcast/rank/registry.h"

#include <algorithm>

#include "nearcast/index/registry.h"
#include "nearcast/rank/brute_force.h"
#include "nearcast/rank/ir_tree.h"
#include "nearcast/rank/keyword_first.h"
#include "nearcast/rank/route_lists/route_lists.h"
#include "nearcast/rank/rt_plus_plus_tree.h"
#include "nearcast/rank/rt_plus_tree.h"
#include "nearcast/rank/rt_tree.h"
#include "nearcast/rank/spatial_first.h"

namespace nearcast {
namespace {

struct RankKind {
  const char* name;
  std::unique_ptr<RankIndex> (*make)(const RankStore& store, const Parameters& parameters);
};

template <typename Index>
std::unique_ptr<RankIndex> make_with(const RankStore& store, const Parameters& parameters) {
  return std::make_unique<Index>(store, parameters);
}

// The first one stands in for kinds that cannot rank.
constexpr RankKind kRankKinds[] = {
    {"auto", &make_with<RouteLists>},
    {"brute-force", &make_with<BruteForceRank>},
    {"ir-tree", &make_with<IrTreeRank>},
    {"keyword-first", &make_with<KeywordFirstRank>},
    {"rt-tree", &make_with<RtTreeRank>},
    {"rt+-tree", &make_with<RtPlusTreeRank>},
    {"rt++-tree", &make_with<RtPlusPlusTreeRank>},
    {"spatial-first", &make_with<SpatialFirstRank>},
};

}  // namespace

std::unique_ptr<RankIndex> make_rank_index(
    const std::string& kind, const RankStore& store,
    const std::map<std::string, ParameterValue>& parameters) {
  const IndexKind& known = index_kind(kind);
  const Parameters checked(kind, known.parameters, parameters);
  const auto* found = std::find_if(std::begin(kRankKinds), std::end(kRankKinds),
                                   [&](const RankKind& own) { return own.name == kind; });
  if (found != std::end(kRankKinds)) return found->make(store, checked);
  const IndexKind& stand_in = index_kind(kRankKinds[0].name);
  return kRankKinds[0].make(store, Parameters(stand_in.name, stand_in.parameters, {}));
}

}  // namespace nearcast
