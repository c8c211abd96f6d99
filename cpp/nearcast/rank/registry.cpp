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

/// The kind that serves those without a rank index of their own.
constexpr const char* kStandIn = "sized-lists";

constexpr RankKind kRankKinds[] = {
    {"brute-force", &make_with<BruteForceRank>},
    {"ir-tree", &make_with<IrTreeRank>},
    {"keyword-first", &make_with<KeywordFirstRank>},
    {"rt-tree", &make_with<RtTreeRank>},
    {"rt+-tree", &make_with<RtPlusTreeRank>},
    {"rt++-tree", &make_with<RtPlusPlusTreeRank>},
    {"sized-lists", &make_with<RouteLists>},
    {"spatial-first", &make_with<SpatialFirstRank>},
};

const RankKind* find_kind(const std::string& name) {  ///< or nullptr
  const auto* found = std::find_if(std::begin(kRankKinds), std::end(kRankKinds),
                                   [&](const RankKind& kind) { return kind.name == name; });
  return found != std::end(kRankKinds) ? found : nullptr;
}

}  // namespace

std::unique_ptr<RankIndex> make_rank_index(
    const std::string& kind, const RankStore& store,
    const std::map<std::string, ParameterValue>& parameters) {
  const IndexKind& known = index_kind(kind);
  const Parameters checked(kind, known.parameters, parameters);
  if (const RankKind* own = find_kind(known.name)) return own->make(store, checked);
  return find_kind(kStandIn)->make(store,
                                   Parameters(kStandIn, index_kind(kStandIn).parameters, {}));
}

}  // namespace nearcast
