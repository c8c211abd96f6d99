/// The interface of all indexes of match subscriptions, and the types that it uses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/visit_stamps.h"
#include "nearcast/base/work_counters.h"
#include "nearcast/model/conditions.h"
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
  void accept(std::span<const SubscriptionId> ids) {
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    work.matches += ids.size();
  }
  std::span<const SubscriptionId> ids() const { return ids_; }
  /// Takes back the answers that keep(message of the group, id) does not want. Before that,
  /// approach(id, 0) and then approach(id, 1) pull what it reads into the cache.
  template <typename Keep, typename Approach>
  void retain(Keep&& keep, Approach&& approach) {
    constexpr std::size_t kAhead = 8;  // answers between one step and the next
    std::size_t kept = 0, from = 0, message = 0;
    for (std::size_t i = 0; i < std::min(2 * kAhead, ids_.size()); ++i) approach(ids_[i], 0);
    for (std::size_t i = 0; i < std::min(kAhead, ids_.size()); ++i) approach(ids_[i], 1);
    const auto retain_until = [&](std::size_t end) {
      for (; from < end; ++from) {
        const SubscriptionId id = ids_[from];
        if (from + 2 * kAhead < ids_.size()) approach(ids_[from + 2 * kAhead], 0);
        if (from + kAhead < ids_.size()) approach(ids_[from + kAhead], 1);
        if (keep(message, id)) ids_[kept++] = id;
      }
    };
    for (std::size_t& end : ends_) {
      retain_until(end);
      end = kept;
      ++message;
    }
    retain_until(ids_.size());
    work.matches -= ids_.size() - kept;
    ids_.resize(kept);
  }
  /// The answers of a group: end_message() says that one is complete; its ids end at ends()[i].
  void end_message() { ends_.push_back(ids_.size()); }
  std::span<const std::size_t> ends() const { return ends_; }
  void clear() {
    ids_.clear();
    ends_.clear();
  }

  WorkCounters work;

 private:
  std::vector<SubscriptionId> ids_;
  std::vector<std::size_t> ends_;
};

/// Memory that matching needs and keeps between calls, so that a message allocates nothing. Each
/// thread has its own.
class MatchScratch {
 public:
  VisitStamps visited;  ///< by subscription; started by the engine for each message
  std::vector<std::uint32_t> positions;  ///< the message's tokens in an index's own order
  std::vector<std::uint64_t> queue;      ///< work that is put off until its memory is in the cache
  std::vector<std::uint64_t> pending;    ///< the same, for a second kind of work
  ShapeMemo shapes;                      ///< what is decided once for a message

  /// Is this entry's match still to be reported? A subscription of one clause is met only once and
  /// is not looked up.
  bool first_report(const SubscriptionStore& store, EntryId entry) {
    return store.is_only_clause(entry) || visited.first_visit(raw(store.owner(entry)));
  }

  /// What only one kind of index needs, in a type of that kind's own. The first call makes it;
  /// later calls return it until another type is wanted, which does not happen within one engine.
  template <typename Own>
  Own& own() {
    static const char type = 0;  // its address stands for the type
    if (own_type_ != &type) [[unlikely]] {
      own_ = std::make_shared<Own>();
      own_type_ = &type;
    }
    return *static_cast<Own*>(own_.get());
  }

 private:
  std::shared_ptr<void> own_;
  const char* own_type_ = nullptr;
};

/// Messages of the past. Cost models take them as a sample of the messages to come.
struct MessageSample {
  std::vector<Token> tokens;         ///< of all messages, each message's ascending and distinct
  std::vector<std::size_t> offsets;  ///< message i has tokens [offsets[i], offsets[i + 1])
  std::vector<Place> places;

  std::size_t size() const { return places.size(); }
  TokenSpan tokens_of(std::size_t i) const {
    return TokenSpan(tokens).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

/// Subscriptions that will be inserted next, each of one clause without negative tokens.
struct ClauseRows {
  TokenSpan tokens;                      ///< of all rows, each row's ascending and distinct
  std::span<const std::size_t> offsets;  ///< row i has tokens [offsets[i], offsets[i + 1])
  std::span<const double> west, south, east, north;  ///< empty: no row has an area

  std::size_t size() const { return offsets.size() - 1; }
  TokenSpan tokens_of(std::size_t i) const {
    return tokens.subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

/// A set of subscriptions that answers: which of them does this message match? Every implementation
/// returns exactly what BruteForce returns; only the cost differs.
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
  /// In which order should new subscriptions be numbered, so that matching is fast? A permutation
  /// of the rows, or nothing: in the order of the rows.
  virtual std::vector<std::uint32_t> arrange(const ClauseRows&) const { return {}; }
  /// Insert many at once.
  virtual void build(std::span<const SubscriptionId> ids) {
    for (const SubscriptionId id : ids) insert(id);
  }
  /// Called before the insert or erase of ids[i] in a series: prefetch what those of the following
  /// ids will read.
  virtual void approach(std::span<const SubscriptionId>, std::size_t) const {}
  /// Told once, before anything else: what decides about subscriptions beside store and message.
  /// True: the index looks at the ranges of numbers in it, and at Message::numbers; conditions are
  /// in place before insert() and until after erase().
  virtual bool file_by(const Conditions&) { return false; }
  /// A sample of messages, which later builds and repairs use.
  virtual void learn(const MessageSample&) {}

  /// Prefetch what matching begins with, for a message that will be matched soon.
  virtual void prefetch(const Message&) const {}

  /// Report each matching id once, in any order. scratch.visited is fresh.
  virtual void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const = 0;

  /// Match a few messages, each as match() does, and call end_message() after each. An index that
  /// waits for memory can let the waits of several messages overlap.
  virtual void match_group(std::span<const Message> messages, MatchScratch& scratch,
                           MatchSink& sink) const {
    for (const Message& message : messages) {
      scratch.visited.start(store_.slots());
      match(message, scratch, sink);
      sink.end_message();
    }
  }

  virtual std::size_t memory_bytes() const = 0;
  /// Throws an internal error that names what is broken.
  virtual void check_invariants() const = 0;

  /// An index is built again from the store when a snapshot is opened, after learn() if it had
  /// learned. A kind whose capabilities name "maps" writes itself instead, so that opening costs
  /// the same at any size.
  virtual void save(ArchiveWriter&) const {}
  virtual void load(ArchiveReader&) {
    std::vector<SubscriptionId> ids;
    ids.reserve(store_.size());
    store_.for_each([&](SubscriptionId id) { ids.push_back(id); });
    build(ids);
  }

 protected:
  const SubscriptionStore& store_;
};

}  // namespace nearcast
