#include "nearcast/topk/registry.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/topk/arrival/bounded_lists/bounded_lists.h"
#include "nearcast/topk/arrival/brute_force.h"
#include "nearcast/topk/arrival/ciq/ciq_arrival.h"
#include "nearcast/topk/arrival/igpt/igpt_arrival.h"
#include "nearcast/topk/arrival/term_at_a_time.h"
#include "nearcast/topk/expiry/cost_skyband.h"
#include "nearcast/topk/expiry/skyband.h"
#include "nearcast/topk/expiry/slack_buffers.h"
#include "nearcast/topk/search/ir_tree/ir_tree_search.h"
#include "nearcast/topk/search/posting_search.h"

namespace nearcast {
namespace {

// The kinds that `auto` stands for.
constexpr const char* kAutoArrival = "bounded-lists";
constexpr const char* kAutoExpiry = "slack";

template <typename Index>
std::unique_ptr<ArrivalIndex> make_arrival(const TopState& state, const TopTuning&) {
  return std::make_unique<Index>(state);
}

template <typename Index>
std::unique_ptr<ArrivalIndex> make_tuned(const TopState& state, const TopTuning& tuning) {
  return std::make_unique<Index>(state, tuning);
}

template <bool kPrunesGroups>
std::unique_ptr<ArrivalIndex> make_igpt(const TopState& state, const TopTuning& tuning) {
  return std::make_unique<IgptArrival>(state, tuning, kPrunesGroups);
}

template <typename Policy>
std::unique_ptr<ExpiryPolicy> make_expiry(TopState& state, MessageSearch& search,
                                          ArrivalIndex& arrival, const TopTuning& tuning) {
  return std::make_unique<Policy>(state, search, arrival, tuning);
}

std::unique_ptr<ExpiryPolicy> make_naive(TopState& state, MessageSearch& search,
                                         ArrivalIndex& arrival, const TopTuning&) {
  return std::make_unique<SlackBuffers>(state, search, arrival, SlackBuffers::Slack{1, 0, 1, 0});
}

std::unique_ptr<ExpiryPolicy> make_kmax(TopState& state, MessageSearch& search,
                                        ArrivalIndex& arrival, const TopTuning& tuning) {
  const double factor = tuning.kmax_factor;
  return std::make_unique<SlackBuffers>(state, search, arrival,
                                        SlackBuffers::Slack{factor, 0, factor, 0});
}

std::unique_ptr<ExpiryPolicy> make_slack(TopState& state, MessageSearch& search,
                                         ArrivalIndex& arrival, const TopTuning& tuning) {
  const double limit = std::max(tuning.slack_kept, tuning.slack_limit);
  return std::make_unique<SlackBuffers>(state, search, arrival,
                                        SlackBuffers::Slack{1, tuning.slack_kept, 1, limit});
}

template <typename Kind>
const Kind& find_kind(const std::vector<Kind>& kinds, const std::string& name, const char* what) {
  std::string names;
  for (const Kind& kind : kinds) {
    if (kind.name == name)
      return kind.stands_for.empty() ? kind : find_kind(kinds, kind.stands_for, what);
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  throw Error(ErrorKind::kInvalidParameter, what, "'" + name + "'", "one of " + names);
}

/// The kinds, and before them `auto`.
template <typename Kind>
std::vector<Kind> with_auto(const char* chosen, std::vector<Kind> kinds) {
  Kind row = find_kind(kinds, chosen, "auto");
  row.name = "auto";
  row.stands_for = chosen;
  row.summary = "the kind that the library chooses, now " + row.stands_for + "; the default";
  kinds.insert(kinds.begin(), std::move(row));
  return kinds;
}

}  // namespace

std::unique_ptr<MessageSearch> make_search(const TopState& state, const TopTuning& tuning) {
  if (tuning.search == "ir-tree") return std::make_unique<IrTreeSearch>(state, tuning);
  return std::make_unique<PostingSearch>(state, tuning);
}

const std::vector<ArrivalKind>& arrival_kinds() {
  static const auto kinds = with_auto<ArrivalKind>(
      kAutoArrival,
      {
          {"bounded-lists", "our own: lists by token behind vector-sized bounds", "slack",
           &make_tuned<BoundedLists>},
          {"igpt", "quadtree of inverted files; bounds for single subscriptions, groups and cells",
           "cskyband", &make_igpt<true>},
          {"ipt", "the same with the bounds for single subscriptions only", "cskyband",
           &make_igpt<false>},
          {"ciq", "every subscription in several cells, with a bound of the text it needs in each",
           "kmax", &make_tuned<CiqArrival>},
          {"term-at-a-time", "an inverted file without bounds; the yardstick of speed", "kmax",
           &make_arrival<TermAtATimeArrival>},
          {"brute-force", "looks at every subscription; the yardstick of correctness", "naive",
           &make_arrival<BruteForceArrival>},
      });
  return kinds;
}

const std::vector<ExpiryKind>& expiry_kinds() {
  static const auto kinds = with_auto<ExpiryKind>(
      kAutoExpiry,
      {
          {"slack", "our own: some more than k, cut back to the best now and then", false,
           &make_slack},
          {"cskyband", "what fewer than k dominate, down to a score that a cost model chooses",
           true, &make_expiry<CostSkyband>},
          {"skyband", "what fewer than k dominate, down to a share of the k-th score", true,
           &make_expiry<Skyband>},
          {"kmax", "the best, several times k", false, &make_kmax},
          {"naive", "the k best, searched anew at every departure", false, &make_naive},
      });
  return kinds;
}

const ArrivalKind& arrival_kind(const std::string& name) {
  return find_kind(arrival_kinds(), name, "unknown kind of top-k arrival");
}

const ExpiryKind& expiry_kind(const std::string& name) {
  return find_kind(expiry_kinds(), name, "unknown kind of top-k expiry");
}

const ExpiryKind& expiry_kind(const std::string& arrival, const std::string& name) {
  return expiry_kind(name.empty() ? arrival_kind(arrival).expiry : name);
}

}  // namespace nearcast
