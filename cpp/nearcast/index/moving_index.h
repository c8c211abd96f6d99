/// Subscriptions that move, and messages that stay: each is found from the other side [AP §4].
///
/// A live subscription's set is always *the live messages that match it*, so no set is stored: who
/// loses a message that goes is who matches it, and what a move changes follows from the areas
/// before and after it.
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

  /// Report who matches a message, and keep it: one descent, where the structure allows it.
  virtual void keep(MessageId id, MatchScratch& scratch, MatchSink& sink) = 0;
  virtual void drop(MessageId id) = 0;

  /// True once after a keep() that made it forget its messages, this one too, to hold them in
  /// another way: it has to be told of all that are live again, by slices.
  virtual bool wants_all() { return false; }

  /// Appends the live messages that match the subscription, each once.
  virtual void find(SubscriptionId id, std::vector<MessageId>& out) const = 0;

  /// Give a subscription that is here another area, in `store` (the store of this index) too.
  virtual void move(SubscriptionId id, const Area& to, SubscriptionStore& store,
                    MoveChanges& changes) = 0;

  virtual std::size_t message_bytes() const = 0;  ///< of what keeps messages; not in memory_bytes()

 protected:
  const MessageStore* messages_ = nullptr;
};

}  // namespace nearcast
