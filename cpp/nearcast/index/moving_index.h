/// The interface of indexes that also keep live messages, for subscriptions that are live or move
/// [AP §4].
///
/// The set of a live subscription is always *the live messages that match it*, so no set is stored:
/// a message that leaves is lost by the subscriptions that match it, and what a move changes
/// follows from the areas before and after it.
#pragma once

#include <vector>

#include "nearcast/index/match_index.h"
#include "nearcast/model/message_store.h"

namespace nearcast {

/// What a subscription gains and loses when its area changes; each message once.
struct MoveChanges {
  std::vector<MessageId> gained, lost;

  void clear() {
    gained.clear();
    lost.clear();
  }
};

/// An index that can also keep messages. match(), insert(), erase() are those of MatchIndex.
/// A message that is kept is in the message store before keep() and until after drop().
class MovingIndex : public MatchIndex {
 public:
  using MatchIndex::MatchIndex;

  /// Where kept messages live. Called once, before the first of the calls below.
  virtual void attach(const MessageStore& messages) { messages_ = &messages; }

  /// Report the subscriptions that a message matches, and keep the message: in one descent, where
  /// the structure allows it.
  virtual void keep(MessageId id, MatchScratch& scratch, MatchSink& sink) = 0;
  /// Keep the message; what is reported is not wanted.
  virtual void admit(MessageId id, MatchScratch& scratch, MatchSink& unwanted) {
    keep(id, scratch, unwanted);
  }
  virtual void drop(MessageId id) = 0;

  /// True once after a keep() in which the index dropped all its messages, the new one included,
  /// because it changes its layout: the caller must keep all live messages again, a few at a time.
  virtual bool wants_all() { return false; }

  /// Appends the live messages that match the subscription, each once.
  virtual void find(SubscriptionId id, std::vector<MessageId>& out) const = 0;

  /// Give a subscription another area, here and in `store`, which is the store of this index.
  virtual void move(SubscriptionId id, const Area& to, SubscriptionStore& store,
                    MoveChanges& changes) = 0;

  virtual std::size_t message_bytes() const = 0;  ///< for messages; not in memory_bytes()

 protected:
  const MessageStore* messages_ = nullptr;
};

}  // namespace nearcast
