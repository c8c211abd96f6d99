/// A new version takes the place of an old one: what is in both, and what in one of them only?
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "nearcast/base/ids.h"
#include "nearcast/columns/change_columns.h"

namespace nearcast {

/// Sorts two lists by key, and calls visit(before, now) for each key of either, with the item of
/// each list that has it, or null. No list has a key twice.
template <typename Item, typename Key, typename Visit>
void for_each_pair(std::vector<Item>& before, std::vector<Item>& now, Key&& key, Visit&& visit) {
  const auto is_less = [&](const Item& a, const Item& b) { return key(a) < key(b); };
  std::sort(before.begin(), before.end(), is_less);
  std::sort(now.begin(), now.end(), is_less);
  const Item *old = before.data(), *current = now.data();
  const Item *const old_end = old + before.size(), *const now_end = current + now.size();
  while (old != old_end || current != now_end) {
    const bool is_old = old != old_end && (current == now_end || !is_less(*current, *old));
    const bool is_now = current != now_end && (old == old_end || !is_less(*old, *current));
    visit(is_old ? old : nullptr, is_now ? current : nullptr);
    old += is_old;
    current += is_now;
  }
}

/// The subscriptions of one mode that two versions of a message reach.
class MessageVersions {
 public:
  void start() {
    before_.clear();
    now_.clear();
  }
  void add_before(SubscriptionId id, double score = Step::kNoScore) {
    before_.push_back({id, score});
  }
  void add_now(SubscriptionId id, double score = Step::kNoScore) { now_.push_back({id, score}); }

  /// Reports what the new version changes. A subscription that holds no set is told of a message
  /// once: not of a version that follows one that it matched, and not of what it no longer matches.
  template <typename Holds, typename Name>
  void report(std::string_view message, Holds&& holds, Name&& name, Step& step) {
    for_each_pair(
        before_, now_, [](const Reached& reached) { return reached.id; },
        [&](const Reached* before, const Reached* now) {
          const Reached& told = now != nullptr ? *now : *before;
          if (before != nullptr && !holds(told.id)) return;
          const ChangeKind kind = before == nullptr ? ChangeKind::kAdded
                                  : now == nullptr  ? ChangeKind::kRemoved
                                                    : ChangeKind::kUpdated;
          step.report(name(told.id), message, kind, Reason::kChanged, told.score);
        });
  }

 private:
  struct Reached {
    SubscriptionId id;
    double score;
  };
  std::vector<Reached> before_, now_;
};

}  // namespace nearcast
