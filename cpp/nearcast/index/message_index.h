/// The interface of all indexes of live messages: which messages may a subscription match?
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nearcast/base/ids.h"
#include "nearcast/geo/rect.h"
#include "nearcast/model/message_store.h"
#include "nearcast/model/subscription.h"

namespace nearcast {

/// A set of live messages that proposes those which may satisfy a clause in some windows. Messages
/// are in the store; an index holds ids and what lets it skip work.
class MessageIndex {
 public:
  explicit MessageIndex(const MessageStore& messages) : messages_(messages) {}
  virtual ~MessageIndex() = default;

  virtual void insert(MessageId id) = 0;  ///< is in the store, not yet here
  virtual void erase(MessageId id) = 0;   ///< is here, still in the store

  /// True once after an insert() in which the index dropped all its messages, the new one included,
  /// because it changes its layout: the caller must insert all live messages again, a few at a
  /// time.
  virtual bool wants_all() { return false; }

  /// Appends every live message that has all positive tokens of the clause and whose place touches
  /// one of the windows. May append others that are live, may append one twice.
  virtual void propose(const Clause& clause, std::span<const Rect> windows,
                       std::vector<MessageId>& out) const = 0;

  virtual std::size_t memory_bytes() const = 0;
  /// Throws an internal error that names what is broken.
  virtual void check_invariants() const = 0;

 protected:
  const MessageStore& messages_;
};

}  // namespace nearcast
