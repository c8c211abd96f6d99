/// The other direction: live messages, found from the side of a subscription.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nearcast/base/ids.h"
#include "nearcast/geo/rect.h"
#include "nearcast/model/message_store.h"
#include "nearcast/model/subscription.h"

namespace nearcast {

/// A set of live messages that proposes: which of them may satisfy this clause in these windows?
/// Messages live in the store; an index holds ids and whatever lets it skip work.
class MessageIndex {
 public:
  explicit MessageIndex(const MessageStore& messages) : messages_(messages) {}
  virtual ~MessageIndex() = default;

  virtual void insert(MessageId id) = 0;  ///< is in the store, not yet here
  virtual void erase(MessageId id) = 0;   ///< is here, still in the store

  /// True once after an insert() that made it forget its messages, this one too, to hold them in
  /// another way: it has to be told of all that are live again, by slices.
  virtual bool wants_all() { return false; }

  /// Appends every live message that has all positive tokens of the clause and whose place touches
  /// one of the windows. May append others that are live, may append one twice.
  virtual void propose(const Clause& clause, std::span<const Rect> windows,
                       std::vector<MessageId>& out) const = 0;

  virtual std::size_t memory_bytes() const = 0;
  virtual void check_invariants()
      const = 0;  ///< throws an internal error that names what is broken

 protected:
  const MessageStore& messages_;
};

}  // namespace nearcast
