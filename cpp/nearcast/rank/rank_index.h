/// The interface of all indexes of rank subscriptions, and the types that it uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nearcast/base/ids.h"
#include "nearcast/base/visit_stamps.h"
#include "nearcast/base/work_counters.h"
#include "nearcast/index/match_index.h"
#include "nearcast/model/message.h"
#include "nearcast/rank/rank_store.h"

namespace nearcast {

/// Where rank() puts its answer and the work it took; like MatchSink, with scores.
class RankSink {
 public:
  void accept(SubscriptionId id, double score) {
    ids_.push_back(id);
    scores_.push_back(score);
    ++work.matches;
  }
  std::span<const SubscriptionId> ids() const { return ids_; }
  std::span<const double> scores() const { return scores_; }  ///< scores()[i] is ids()[i]'s
  /// Takes back the answers that keep(id) does not want.
  template <typename Keep>
  void retain(Keep&& keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (!keep(ids_[i])) continue;
      ids_[kept] = ids_[i];
      scores_[kept++] = scores_[i];
    }
    work.matches -= ids_.size() - kept;
    ids_.resize(kept);
    scores_.resize(kept);
  }
  void clear() {
    ids_.clear();
    scores_.clear();
  }

  WorkCounters work;

 private:
  std::vector<SubscriptionId> ids_;
  std::vector<double> scores_;
};

/// Memory that rank() needs and keeps between calls. Each thread has its own.
struct RankScratch {
  VisitStamps visited;                ///< by subscription; started by the engine for each message
  std::vector<SubscriptionId> queue;  ///< candidates whose memory is being prefetched
  std::vector<SubscriptionId> queue_inside;  ///< those certain to have the message in their box
  std::vector<std::uint64_t> bits;       ///< a small set of hashed tokens; empty between messages
  std::vector<std::uint32_t> near_keys;  ///< the message's tokens in an index's own order
  std::vector<std::uint32_t> far_keys;   ///< the same, for a second filter
  std::vector<std::uint64_t> steps;      ///< nodes to visit, each with a subscription
  std::vector<std::pair<std::uint32_t, double>>
      found;                    ///< what tokens led to, with the weight of the token
  std::vector<double> tallies;  ///< by subscription: weight found so far; good where visited
};

/// A set of rank subscriptions that answers: of which of them does this message reach the
/// threshold, and with which score? Every implementation returns exactly what brute force returns;
/// only the cost differs.
///
/// rank() is const and may run from many threads, each with its own scratch; everything else needs
/// exclusive access.
class RankIndex {
 public:
  explicit RankIndex(const RankStore& store) : store_(store) {}
  virtual ~RankIndex() = default;

  virtual void insert(SubscriptionId id) = 0;  ///< is in the store, not yet here
  virtual void erase(SubscriptionId id) = 0;   ///< is here, still in the store
  /// In which order should new subscriptions be numbered, so that rank() is fast? A permutation of
  /// the rows, or nothing: in the order of the rows.
  virtual std::vector<std::uint32_t> arrange(const ClauseRows&) const { return {}; }
  /// Insert many at once.
  virtual void build(std::span<const SubscriptionId> ids) {
    for (const SubscriptionId id : ids) insert(id);
  }
  /// The store's weights have changed: derive anew what was derived from them.
  virtual void reweigh() = 0;

  /// Prefetch what rank() begins with, for a message that is ranked soon.
  virtual void prefetch(const Message&) const {}

  /// Report each id whose threshold is reached once, in any order. scratch.visited is fresh.
  virtual void rank(const Message& message, RankScratch& scratch, RankSink& sink) const = 0;

  virtual std::size_t memory_bytes() const = 0;
  /// Throws an internal error that names what is broken.
  virtual void check_invariants() const = 0;

  /// Called when a snapshot is opened: build the index of all that is in the store.
  void build_all() {
    std::vector<SubscriptionId> ids;
    ids.reserve(store_.size());
    store_.for_each([&](SubscriptionId id) { ids.push_back(id); });
    build(ids);
  }

 protected:
  const RankStore& store_;
};

}  // namespace nearcast
