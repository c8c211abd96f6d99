#include "nearcast/model/message_store.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "nearcast/base/errors.h"

namespace nearcast {

Point centre_of(const Place& place) {
  if (place.is_point) return place.point();
  const Rect& first = place.part[0];
  const double lat = (first.south + first.north) / 2;
  if (place.parts == 1) return {(first.west + first.east) / 2, lat};
  const double lon = (first.west + place.part[1].east + 360) / 2;
  return {lon > 180 ? lon - 360 : lon, lat};
}

namespace {

/// The box as it was given: west > east if it crosses the antimeridian.
Rect given_box(const Place& place) {
  const Rect& first = place.part[0];
  return place.parts == 1 ? first : Rect{first.west, first.south, place.part[1].east, first.north};
}

}  // namespace

void MessageStore::check_room(const NewMessage& message) const {
  const std::size_t words = message.tokens.size() + message.order.size();
  if (message.tokens.size() <= kMaxTokens && message.order.size() <= KeptSaying::kMaxPlaces &&
      records_.size() <= kMaxSlots && message.attributes.size() <= 0xFFFFFFFFu &&
      4 * (words + message.attributes.size() / 4 + 16) <= words_.room())
    return;
  too_large("live messages",
            std::to_string(live_) + " and one of " + std::to_string(words) + " words",
            "at most 2^31 messages, and 2^32 words of all");
}

/// Leaves in saying_ what is beyond the set of words, if there is anything.
void MessageStore::write_saying(const NewMessage& message) {
  saying_.clear();
  if (message.order.size() > 1 || !message.attributes.empty())
    KeptSaying::write(message.tokens, message.order, message.attributes, saying_);
}

MessageId MessageStore::add(const NewMessage& message) {
  check_room(message);
  write_saying(message);
  Word slot = static_cast<Word>(records_.size());
  if (free_slots_.empty()) {
    centres_.resize(slot + 1);
    numbers_.resize(slot + 1);
    expires_.resize(slot + 1);
    outlines_.resize(slot + 1);
    links_.resize(slot + 2);
    records_.resize(slot + 1);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  const Word head = static_cast<Word>(message.tokens.size()) |
                    (message.counts.empty() ? 0 : kHasCounts) |
                    (message.place.is_point ? 0 : kHasBox) | (saying_.empty() ? 0 : kHasSaying);
  const Word position = words_.allocate(fixed_size_of(head) + static_cast<Word>(saying_.size()));
  Word* out = words_.at(position);
  *out++ = head;
  for (const Token token : message.tokens) *out++ = raw(token);
  for (const std::uint32_t count : message.counts) *out++ = count;
  if (!message.place.is_point) {
    const Rect box = given_box(message.place);
    std::memcpy(out, &box, sizeof(box));
    out += kBoxWords;
  }
  std::copy(saying_.begin(), saying_.end(), out);
  records_[slot] = position + 1;
  centres_[slot] = centre_of(message.place);
  numbers_[slot] = next_number_++;
  expires_[slot] = message.expires;
  link(slot);
  ++live_;
  return MessageId{slot};
}

void MessageStore::link(Word slot) {
  const MessageId id{slot};
  outlines_[slot] = outline_of(tokens(id)) | (is_point(id) ? 0 : kBoxOutline);
  const Word last = links_[0].previous;
  links_[slot + 1] = {last, 0};
  links_[last].next = links_[0].previous = slot + 1;
}

void MessageStore::hide(MessageId id) {
  outlines_[raw(id)] = 0;
  const Link link = links_[raw(id) + 1];
  links_[link.previous].next = link.next;
  links_[link.next].previous = link.previous;
}

void MessageStore::remove(MessageId id) {
  if (outlines_[raw(id)] != 0) hide(id);
  const Word position = records_[raw(id)] - 1;
  words_.free(position, size_of(words_.at(position)));
  records_[raw(id)] = 0;
  free_slots_.push_back(raw(id));
  --live_;
}

TokenSpan MessageStore::tokens(MessageId id) const {
  static_assert(sizeof(Token) == sizeof(Word));
  const Word* words = record(id);
  return {reinterpret_cast<const Token*>(words + 1), token_count(words[0])};
}

std::span<const std::uint32_t> MessageStore::counts(MessageId id) const {
  const Word* words = record(id);
  if ((words[0] & kHasCounts) == 0) return {};
  return {words + 1 + token_count(words[0]), token_count(words[0])};
}

Place MessageStore::place(MessageId id) const {
  const Word* words = record(id);
  if ((words[0] & kHasBox) == 0) return Place::at(centres_[raw(id)]);
  Rect box;
  std::memcpy(static_cast<void*>(&box), words + fixed_size_of(words[0]) - kBoxWords, sizeof(box));
  return Place::box(box);
}

std::size_t MessageStore::memory_bytes() const {
  return centres_.memory_bytes() + numbers_.memory_bytes() + expires_.memory_bytes() +
         outlines_.memory_bytes() + links_.memory_bytes() + records_.memory_bytes() +
         free_slots_.memory_bytes() + words_.memory_bytes();
}

void MessageStore::save(ArchiveWriter& out) const {
  out.value(static_cast<std::uint64_t>(live_));
  out.value(next_number_);
  centres_.save(out);
  numbers_.save(out);
  expires_.save(out);
  records_.save(out);
  free_slots_.save(out);
  words_.save(out);
}

void MessageStore::load(ArchiveReader& in, const Claims& known_tokens) {
  live_ = in.value<std::uint64_t>();
  next_number_ = in.value<std::uint64_t>();
  centres_.load(in);
  numbers_.load(in);
  expires_.load(in);
  records_.load(in);
  free_slots_.load(in);
  words_.load(in);
  if (in.is_checking()) check_loaded(known_tokens);
  // Outlines and the order follow from the messages.
  outlines_.resize(slots());
  links_.resize(slots() + 1);
  std::vector<MessageId> by_age;
  by_age.reserve(size());
  for_each([&](MessageId id) { by_age.push_back(id); });
  std::sort(by_age.begin(), by_age.end(),
            [&](MessageId a, MessageId b) { return number(a) < number(b); });
  for (std::size_t i = 0; i < by_age.size(); ++i) {
    expect(i == 0 || number(by_age[i - 1]) < number(by_age[i]), "the order of messages");
    link(raw(by_age[i]));
  }
}

}  // namespace nearcast
