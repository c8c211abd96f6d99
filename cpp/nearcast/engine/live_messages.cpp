#include "nearcast/engine/live_messages.h"

namespace nearcast {

std::optional<MessageId> LiveMessages::find(std::string_view id) const {
  const std::uint32_t slot = ids_.find(ExternalId(id));
  return slot == ExternalIds::kNone ? std::nullopt : std::optional(MessageId{slot});
}

MessageId LiveMessages::add(std::string_view id, const NewMessage& message) {
  const MessageId added = store_.add(message);
  ids_.bind(ExternalId(id), raw(added));
  if (message.expires != MessageStore::kNever) {
    expiries_.push({message.expires, store_.number(added), raw(added)});
  }
  return added;
}

void LiveMessages::drop(MessageId id) {
  ids_.hide(raw(id));
  if (expiries_.has(raw(id))) expiries_.erase(raw(id));
  store_.hide(id);
  dropped_.push_back(id);
}

void LiveMessages::forget_dropped() {
  for (const MessageId id : dropped_) {
    ids_.forget(raw(id));
    store_.remove(id);
  }
  dropped_.clear();
}

std::optional<MessageId> LiveMessages::next_to_expire() const {
  if (expiries_.empty()) return std::nullopt;
  return MessageId{expiries_.first().slot};
}

std::size_t LiveMessages::memory_bytes() const {
  return store_.memory_bytes() + ids_.memory_bytes() + expiries_.memory_bytes();
}

void LiveMessages::save(ArchiveWriter& out) const {
  store_.save(out);
  ids_.save(out);
  expiries_.save(out);
}

void LiveMessages::load(ArchiveReader& in) {
  store_.load(in);
  ids_.load(in);
  expiries_.load(in);
}

}  // namespace nearcast
