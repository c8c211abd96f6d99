#include "nearcast/life/live_messages.h"

namespace nearcast {

std::optional<MessageId> LiveMessages::find(std::string_view id) const {
  const std::uint32_t slot = ids_.find(ExternalId(id));
  return slot == ExternalIds::kNone ? std::nullopt : std::optional(MessageId{slot});
}

MessageId LiveMessages::add(std::string_view id, const NewMessage& message) {
  const MessageId added = store_.add(message);
  ids_.bind(ExternalId(id), raw(added));
  wait_for_end(added);
  return added;
}

void LiveMessages::wait_for_end(MessageId id) {
  const double expires = store_.expires(id);
  if (expires != MessageStore::kNever) expiries_.push({expires, store_.number(id), raw(id)});
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
}

void LiveMessages::load(ArchiveReader& in, const Claims& known_tokens) {
  store_.load(in, known_tokens);
  ids_.load(in);
  if (in.is_checking()) {
    ids_.check_loaded(store_.slots(), store_.size(), /*has_to_be_words=*/true,
                      [&](std::uint32_t slot) { return store_.is_live(MessageId{slot}); });
  }
  store_.for_each([&](MessageId id) { wait_for_end(id); });
}

}  // namespace nearcast
