#include "nearcast/index/registry.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/index/baselines/brute_force/brute_force.h"
#include "nearcast/index/baselines/grid_index/grid_index.h"
#include "nearcast/index/baselines/iq_plus_tree/iq_plus_tree.h"
#include "nearcast/index/baselines/iq_tree/iq_tree.h"
#include "nearcast/index/baselines/ir_tree/ir_tree.h"
#include "nearcast/index/baselines/keyword_first/keyword_first.h"
#include "nearcast/index/baselines/rq_plus_tree/rq_plus_tree.h"
#include "nearcast/index/baselines/rq_tree/rq_tree.h"
#include "nearcast/index/baselines/spatial_first/spatial_first.h"
#include "nearcast/index/baselines/trie_qd/trie_qd.h"
#include "nearcast/index/ours/sized_lists/sized_lists.h"
#include "nearcast/index/papers/ap_plus_tree/ap_plus_tree.h"
#include "nearcast/index/papers/ap_tree/succession.h"
#include "nearcast/index/papers/lfilter/lfilter.h"
#include "nearcast/index/papers/mbr_trie/mbr_trie.h"
#include "nearcast/index/papers/pt_quadtree/pt_quadtree.h"
#include "nearcast/index/papers/rt_tree/rt_plus_plus_tree.h"
#include "nearcast/index/papers/rt_tree/rt_plus_tree.h"
#include "nearcast/index/papers/rt_tree/rt_tree.h"

namespace nearcast {
namespace {

constexpr const char* kAuto = "sized-lists";  ///< the kind that `auto` stands for

template <typename Index>
std::unique_ptr<MatchIndex> make_with(const SubscriptionStore& store,
                                      const Parameters& parameters) {
  return std::make_unique<Index>(store, parameters);
}

template <typename Index>
IndexKind kind(std::string name, std::string summary,
               std::vector<std::string> capabilities = {"match"}) {
  return {std::move(name), std::move(summary), Index::parameters(), std::move(capabilities),
          &make_with<Index>};
}

/// The kinds, and before them `auto`.
std::vector<IndexKind> with_auto(std::vector<IndexKind> kinds) {
  const auto chosen = std::find_if(kinds.begin(), kinds.end(),
                                   [](const IndexKind& kind) { return kind.name == kAuto; });
  IndexKind row = *chosen;
  row.name = "auto";
  row.stands_for = kAuto;
  row.summary = "the kind that the library chooses, now " + row.stands_for + "; the default";
  kinds.insert(kinds.begin(), std::move(row));
  return kinds;
}

}  // namespace

const std::vector<IndexKind>& index_kinds() {
  static const std::vector<IndexKind> kinds = with_auto({
      kind<SizedLists>("sized-lists",
                       "our own: lists by rarest keyword, scanned if short, small trees if long",
                       {"match", "rank", "maps"}),
      kind<ApSuccession>("ap-tree",
                         "cuts of keywords or cells of space, whichever costs less at a node",
                         {"match", "learns"}),
      kind<ApPlusTree>("ap+-tree", "ap-tree whose leaves also hold the messages that come to them",
                       {"match", "learns", "moving"}),
      kind<BruteForce>("brute-force", "looks at every subscription; the yardstick of correctness",
                       {"match", "rank"}),
      kind<IqTree>("iq-tree", "quadtree, then lists by least frequent keyword in each cell",
                   {"match", "learns"}),
      kind<IqPlusTree>("iq+-tree", "iq-tree whose cells also hold the messages that pass them",
                       {"match", "learns", "moving"}),
      kind<KkIndex>("kk-index", "least frequent keyword, then a grid; messages by both too",
                    {"match", "moving"}),
      kind<IrTree>("ir-tree", "R-tree whose nodes know which child has a keyword",
                   {"match", "rank"}),
      kind<KeywordFirst>("keyword-first", "lists by rarest keyword, then a scan of boxes",
                         {"match", "rank"}),
      kind<RqTree>("rq-tree", "lists by least frequent keyword, then a quadtree in each",
                   {"match", "learns"}),
      kind<RqPlusTree>("rq+-tree", "rq-tree whose cells also hold the messages that pass them",
                       {"match", "learns", "moving"}),
      kind<RtTree>("rt-tree", "R-tree whose nodes know the keywords below them", {"match", "rank"}),
      kind<RtPlusTree>("rt+-tree", "R-tree whose nodes know one keyword of each subscription",
                       {"match", "rank"}),
      kind<RtPlusPlusTree>("rt++-tree", "R-tree that finds a keyword of a subscription per level",
                           {"match", "rank"}),
      kind<MbrTrie>("mbr-trie", "trie of token sets whose nodes carry boxes"),
      kind<PtQuadtree>("pt-quadtree",
                       "quadtree whose cells know which tokens stand for their entries"),
      kind<LFilter>("lfilter",
                    "mbr-trie or pt-quadtree, whichever a cost model expects to be cheaper"),
      kind<SsIndex>("ss-index", "grid, then least frequent keyword; messages by both too",
                    {"match", "moving"}),
      kind<SpatialFirst>("spatial-first", "R-tree of areas, then a test of keywords",
                         {"match", "rank"}),
      kind<TrieQd>("trie-qd", "trie of keywords, then a quadtree for each set of them"),
  });
  return kinds;
}

const IndexKind& index_kind(const std::string& name) {
  std::string names;
  for (const IndexKind& kind : index_kinds()) {
    if (kind.name == name) return kind.stands_for.empty() ? kind : index_kind(kind.stands_for);
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  throw Error(ErrorKind::kInvalidParameter, "unknown index kind", "'" + name + "'",
              "one of " + names);
}

std::unique_ptr<MatchIndex> make_index(const std::string& name, const SubscriptionStore& store,
                                       const std::map<std::string, ParameterValue>& parameters) {
  const IndexKind& kind = index_kind(name);
  return kind.make(store, Parameters(name, kind.parameters, parameters));
}

}  // namespace nearcast
