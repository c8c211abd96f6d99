/// The ONE list of kinds for top subscriptions: how newcomers find whom they concern, and what is
/// kept so that departures need not search.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nearcast/topk/arrival/arrival_index.h"
#include "nearcast/topk/expiry/expiry_policy.h"
#include "nearcast/topk/search/message_search.h"
#include "nearcast/topk/top_tuning.h"

namespace nearcast {

struct ArrivalKind {
  std::string name;
  std::string summary;
  std::string expiry;  ///< what it is combined with unless another is named
  std::unique_ptr<ArrivalIndex> (*make)(const TopState& state, const TopTuning& tuning);
};

struct ExpiryKind {
  std::string name;
  std::string summary;
  bool counts_dominators;
  std::unique_ptr<ExpiryPolicy> (*make)(TopState& state, MessageSearch& search,
                                        ArrivalIndex& arrival, const TopTuning& tuning);
};

/// By the name in `tuning`, which is checked.
std::unique_ptr<MessageSearch> make_search(const TopState& state, const TopTuning& tuning);

const std::vector<ArrivalKind>& arrival_kinds();
const std::vector<ExpiryKind>& expiry_kinds();
/// Throw an invalid-parameter error that lists the names.
const ArrivalKind& arrival_kind(const std::string& name);
const ExpiryKind& expiry_kind(const std::string& name);

}  // namespace nearcast
