/// The only lists of kinds that serve top subscriptions: of arrival (which lists does a new message
/// enter?) and of expiry (what is kept beyond the k best, so that a departure needs no search?).
///
/// `auto` is in both lists a name that the library gives to one of the kinds, as in
/// index/registry.h.
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
  std::string expiry;  ///< the kind of expiry that it is combined with unless another is named
  std::unique_ptr<ArrivalIndex> (*make)(const TopState& state, const TopTuning& tuning);
  std::string stands_for = {};  ///< of `auto`: the name of the kind; empty for a kind
};

struct ExpiryKind {
  std::string name;
  std::string summary;
  bool counts_dominators;
  std::unique_ptr<ExpiryPolicy> (*make)(TopState& state, MessageSearch& search,
                                        ArrivalIndex& arrival, const TopTuning& tuning);
  std::string stands_for = {};  ///< as above
};

/// By the name in `tuning`, which is checked.
std::unique_ptr<MessageSearch> make_search(const TopState& state, const TopTuning& tuning);

const std::vector<ArrivalKind>& arrival_kinds();
const std::vector<ExpiryKind>& expiry_kinds();
/// The kind of that name; for `auto`, the kind that it stands for. Throw an invalid-parameter error
/// that lists the names.
const ArrivalKind& arrival_kind(const std::string& name);
const ExpiryKind& expiry_kind(const std::string& name);
/// The same for an expiry that may be empty: then the one that the arrival is combined with.
const ExpiryKind& expiry_kind(const std::string& arrival, const std::string& name);

}  // namespace nearcast
