#include "nearcast/rank/route_lists/route_lists.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/index/ours/sized_lists/arrange.h"

namespace nearcast {

using sized_lists::Entry;

RouteLists::RouteLists(const RankStore& store, const Parameters& parameters)
    : RankIndex(store),
      uses_avx2_(sized_lists::may_use_avx2(parameters.word("kernels"))),
      near_(static_cast<std::uint32_t>(parameters.count("small_list"))),
      records_(store) {}

void RouteLists::find_routes(SubscriptionId id) const {
  const TokenSpan tokens = store_.tokens(id);
  ordered_.assign(tokens.begin(), tokens.end());
  std::sort(ordered_.begin(), ordered_.end(),
            [&](Token a, Token b) { return order_.position(a) > order_.position(b); });
  weights_.clear();
  for (const Token token : ordered_) weights_.push_back(store_.weights()[token]);
  routes_.find(ordered_, weights_, store_.weight(id), store_.terms(id));
}

/// An entry that needs no second token is marked as proven: then only its id is read.
Entry RouteLists::near_entry(SubscriptionId id, Token second) const {
  ensure((raw(id) & sized_lists::kProvenBit) == 0,
         "route lists: there are more entries than it can number");
  return {frame_.cells(store_.bounds(id)),
          second == kUnknownToken ? sized_lists::kProven : sized_lists::signature_of(second),
          RankStore::entry_of(id)};
}

void RouteLists::add_far(SubscriptionId id) {
  const ScoreRecords::Record& record = records_[id];
  for (const RankRoute& route : routes_.far()) {
    if (route.second == kUnknownToken) {
      // Proven where it is found by its keyword, so it must not be found elsewhere as well.
      const bool is_single =
          record.count == 1 && route.first != kUnknownToken && routes_.near().empty();
      anywhere_.add(list_of(route.first), {frame_.cells(store_.bounds(id)), id, record.terms,
                                           static_cast<std::uint16_t>(is_single)});
    } else {
      if (pairs_.tables().rows() <= raw(route.first)) pairs_.add_row(raw(route.first));
      pairs_.add(raw(route.first), key_of(route.second), raw(id));
    }
  }
}

// ---- one by one -------------------------------------------------------------------------------

void RouteLists::insert(SubscriptionId id) {
  add(id);
  if (sized_lists::is_time_to_refit(size_ - 1, size_)) rebuild();
}

void RouteLists::add(SubscriptionId id) {
  ++size_;
  for (const Token token : store_.tokens(id)) order_.position_or_append(token);
  records_.write(id);
  find_routes(id);
  for (const RankRoute& route : routes_.near())
    near_.add(list_of(route.first), near_entry(id, route.second));
  add_far(id);
}

void RouteLists::erase(SubscriptionId id) {
  --size_;
  find_routes(id);
  bool found_all = true;
  for (const RankRoute& route : routes_.near())
    found_all &= near_.remove(list_of(route.first), near_entry(id, route.second));
  for (const RankRoute& route : routes_.far()) {
    if (route.second == kUnknownToken) {
      found_all &= anywhere_.remove(list_of(route.first), id);
    } else {
      pairs_.remove(raw(route.first), key_of(route.second), raw(id));
    }
  }
  ensure(found_all, "route lists: a subscription is not where it should be");
  records_.erase(id);
}

// ---- all at once ------------------------------------------------------------------------------

/// Subscriptions of one keyword are found by keyword, at any place; the others mostly by place.
std::vector<std::uint32_t> RouteLists::arrange(const ClauseRows& rows) const {
  std::vector<std::uint32_t> lists;
  lists.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const TokenSpan tokens = rows.tokens_of(row);
    lists.push_back(tokens.size() == 1 ? raw(tokens[0]) + 1 : 0);
  }
  return sized_lists::arrange_by(lists, rows);
}

void RouteLists::build(std::span<const SubscriptionId> ids) {
  const std::uint64_t before = size_;
  if (ids.size() < before) {
    for (const SubscriptionId id : ids) add(id);
    // After the loop: a rebuild takes everything from the store, also what the loop has yet to add.
    if (!sized_lists::is_time_to_refit(before, size_)) return;
  }
  rebuild();
}

/// From everything in the store, which already has what is being added.
void RouteLists::rebuild() {
  sized_lists::fit_frame(frame_, store_.subscriptions());
  near_.clear();
  anywhere_.clear();
  pairs_ = {};
  records_.clear();
  size_ = 0;
  std::vector<std::uint32_t> frequencies;
  store_.for_each([&](SubscriptionId id) {
    ++size_;
    for (const Token token : store_.tokens(id)) {
      if (frequencies.size() <= raw(token)) frequencies.resize(raw(token) + 1);
      ++frequencies[raw(token)];
    }
  });
  order_.order_by(frequencies);
  std::vector<std::pair<std::uint32_t, Entry>> listed;
  store_.for_each([&](SubscriptionId id) {
    records_.write(id);
    find_routes(id);
    for (const RankRoute& route : routes_.near())
      listed.emplace_back(list_of(route.first), near_entry(id, route.second));
    add_far(id);
  });
  fill_near(listed);
}

void RouteLists::fill_near(std::span<const std::pair<std::uint32_t, Entry>> listed) {
  std::uint32_t lists = 0;
  for (const auto& [list, entry] : listed) lists = std::max(lists, list + 1);
  std::vector<std::uint32_t> starts(lists + 1);
  for (const auto& [list, entry] : listed) ++starts[list + 1];
  for (std::size_t list = 1; list < starts.size(); ++list) starts[list] += starts[list - 1];
  std::vector<Entry> grouped(listed.size());
  std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
  for (const auto& [list, entry] : listed) grouped[next[list]++] = entry;
  near_.fill(starts, grouped);
}

// ---- the whole --------------------------------------------------------------------------------

std::size_t RouteLists::memory_bytes() const {
  return order_.memory_bytes() + near_.memory_bytes() + anywhere_.memory_bytes() +
         pairs_.memory_bytes() + records_.memory_bytes();
}

void RouteLists::check_invariants() const {
  std::uint64_t subscriptions = 0, near = 0, anywhere = 0, pairs = 0;
  store_.for_each([&](SubscriptionId id) {
    ++subscriptions;
    records_.check(id);
    find_routes(id);
    for (const RankRoute& route : routes_.near()) {
      ++near;
      ensure(near_.has(list_of(route.first), near_entry(id, route.second)),
             "route lists: a subscription is not in a list of its tokens");
    }
    for (const RankRoute& route : routes_.far()) {
      if (route.second == kUnknownToken) {
        ++anywhere;
        ensure(anywhere_.find(list_of(route.first), id) != nullptr,
               "route lists: a subscription is not found anywhere");
      } else {
        ++pairs;
        ensure(pairs_.has(raw(route.first), key_of(route.second), raw(id)),
               "route lists: a subscription is not in the list of a pair");
      }
    }
  });
  pairs_.check_invariants("route lists");
  ensure(subscriptions == size_ && near_.check_invariants() == near &&
             anywhere_.size() == anywhere && pairs_.size() == pairs,
         "route lists: lists hold what no subscription has");
}

}  // namespace nearcast
