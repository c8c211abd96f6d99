/// The messages that are live, the users' ids of them, and in which order they go.
///
/// A message that is dropped cannot be found any more but stays readable until forget_dropped():
/// what its going causes is told in the users' words.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nearcast/base/slot_heap.h"
#include "nearcast/model/external_ids.h"
#include "nearcast/model/message_store.h"

namespace nearcast {

class LiveMessages {
 public:
  const MessageStore& store() const { return store_; }
  std::size_t size() const { return ids_.size(); }

  std::optional<MessageId> find(std::string_view id) const;
  std::string_view word(MessageId id) const { return ids_.word(raw(id)); }
  double expires(MessageId id) const { return store_.expires(id); }

  void check_room(std::string_view id) const { ids_.check_room(id); }  ///< throws a capacity error
  MessageId add(std::string_view id, const NewMessage& message);
  void drop(MessageId id);
  std::span<const MessageId> dropped() const { return dropped_; }
  void forget_dropped();

  std::optional<MessageId> oldest() const { return store_.oldest(); }
  /// The message that expires first, of all that ever do.
  std::optional<MessageId> next_to_expire() const;

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in, const Claims& known_tokens);

 private:
  void wait_for_end(MessageId id);  ///< if it has one

  MessageStore store_;
  ExternalIds ids_;
  SlotHeap expiries_;
  std::vector<MessageId> dropped_;
};

}  // namespace nearcast
