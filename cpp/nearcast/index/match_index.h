/// The one interface of all boolean indexes, and what passes through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/visit_stamps.h"
#include "nearcast/base/work_counters.h"
#include "nearcast/model/message.h"
#include "nearcast/model/subscription_store.h"

namespace nearcast {

/// Where one call to match() puts its answer and the work it took. Concrete, so accept() inlines;
/// one per caller, so match() stays const and needs no lock for its counters.
class MatchSink {
 public:
  void accept(SubscriptionId id) {
    ids_.push_back(id);
    ++work.matches;
  }
  std::span<const SubscriptionId> ids() const { return ids_; }
  void clear() { ids_.clear(); }

  WorkCounters work;

 private:
  std::vector<SubscriptionId> ids_;
};

/// Memory that matching needs and keeps between calls. One per thread.
struct MatchScratch {
  VisitStamps visited;                 ///< by subscription; started by the engine for each message
  std::vector<std::uint32_t> ranks;    ///< the message's tokens in an index's own order
  std::vector<std::uint64_t> bits;     ///< a small set of hashed tokens; empty between messages
  std::vector<std::uint64_t> queue;    ///< work put off until its memory has arrived
  std::vector<std::uint64_t> tallies;  ///< what was counted per entry, hashed; of one message
  std::vector<std::uint64_t> pending;  ///< the same, for a second kind of work

  /// Should this entry's match be reported? Only a subscription that can be met twice is looked up.
  bool first_report(const SubscriptionStore& store, EntryId entry) {
    return store.is_only_clause(entry) || visited.first_visit(raw(store.owner(entry)));
  }
};

/// Messages of the past, for cost models that weigh a choice by what will probably come.
struct MessageSample {
  std::vector<Token> tokens;         ///< of all messages, each message's ascending and distinct
  std::vector<std::size_t> offsets;  ///< message i has tokens [offsets[i], offsets[i + 1])
  std::vector<Place> places;

  std::size_t size() const { return places.size(); }
  TokenSpan tokens_of(std::size_t i) const {
    return TokenSpan(tokens).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

/// A set of subscriptions that answers: which of them does this message match?
/// Every implementation returns exactly what BruteForce returns; only the cost differs.
///
/// Subscriptions live in the store; an index holds ids and whatever lets it skip work. match() is
/// const and may run from many threads, each with its own scratch; everything else needs exclusive
/// access.
class MatchIndex {
 public:
  explicit MatchIndex(const SubscriptionStore& store) : store_(store) {}
  virtual ~MatchIndex() = default;

  virtual void insert(SubscriptionId id) = 0;  ///< is in the store, not yet here
  virtual void erase(SubscriptionId id) = 0;   ///< is here, still in the store
  /// Insert many at once.
  virtual void build(std::span<const SubscriptionId> ids) {
    for (const SubscriptionId id : ids) insert(id);
  }
  /// Messages to learn from; used by builds and repairs that come later.
  virtual void learn(const MessageSample&) {}

  /// Pull what match() will need into the cache, for a message that comes soon: first step 0, then,
  /// some messages later, step 1.
  virtual void prefetch(const Message&, int) const {}

  /// Read the first bytes of whatever match() would begin with, and nothing else; how many places.
  virtual std::uint32_t touch(const Message&) const { return 0; }

  /// Report each matching id once, in any order. scratch.visited is fresh.
  virtual void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const = 0;

  virtual std::size_t memory_bytes() const = 0;
  virtual void check_invariants()
      const = 0;  ///< throws an internal error that names what is broken

  virtual void save(ArchiveWriter& out) const = 0;
  virtual void load(ArchiveReader& in) = 0;

 protected:
  const SubscriptionStore& store_;
};

}  // namespace nearcast
