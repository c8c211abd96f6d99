/// Is a store of messages that was read from a file as it must be?
#include <cmath>
#include <cstring>

#include "nearcast/base/claims.h"
#include "nearcast/base/utf8.h"
#include "nearcast/model/message_store.h"

namespace nearcast {
namespace {

constexpr const char* kMessage = "the record of a message";

bool is_in_world(double lon, double lat) {
  return std::fabs(lon) <= 180 && std::fabs(lat) <= 90;  // false for NaN
}

}  // namespace

void MessageStore::check_record(MessageId id, const Claims& known_tokens, Claims& words) const {
  const Word position = records_[raw(id)] - 1;
  expect(position < words_.places(), kMessage);
  const Word* const record = words_.at(position);
  const std::uint64_t count = token_count(record[0]);
  const bool has_counts = (record[0] & kHasCounts) != 0;
  std::uint64_t size = 1 + count * (has_counts ? 2 : 1) +
                       ((record[0] & kHasBox) != 0 ? std::uint64_t{kBoxWords} : 0);
  if ((record[0] & kHasSaying) != 0) {
    expect(position + size + 2 <= words_.places(), kMessage);
    size += KeptSaying(record + size).size();
  }
  ListArena<Word>::claim(words, position, size, kMessage);
  for (Word i = 0; i < count; ++i) {
    expect(known_tokens.has(record[1 + i]) && (i == 0 || record[i] < record[1 + i]), kMessage);
    expect(!has_counts || record[1 + count + i] != 0, kMessage);
  }
  check_saying(id, kMessage);
  expect(is_in_world(centres_[raw(id)].lon, centres_[raw(id)].lat), kMessage);
  expect(numbers_[raw(id)] < next_number_ && !std::isnan(expires_[raw(id)]), kMessage);
  if (is_point(id)) return;
  Rect box;
  std::memcpy(static_cast<void*>(&box), record + fixed_size_of(record[0]) - kBoxWords, sizeof(box));
  expect(is_in_world(box.west, box.south) && is_in_world(box.east, box.north) &&
             box.south <= box.north,
         kMessage);
}

void MessageStore::check_saying(MessageId id, const char* what) const {
  if (saying(id) == nullptr) return;
  const KeptSaying said(saying(id));
  expect(said.is_sound(tokens(id).size()), what);
  bool is_text = true;
  const bool is_read = for_each_attribute(said.attributes(), [&](const Attribute& attribute) {
    is_text &= !attribute.name.empty() && attribute.name.find('\0') == std::string_view::npos &&
               is_utf8(attribute.name) && is_utf8(attribute.text);
  });
  expect(is_read && is_text, what);
}

void MessageStore::check_loaded(const Claims& known_tokens) const {
  constexpr const char* kSlot = "a slot of a message";
  expect(slots() < 0xFFFFFFFFu && centres_.size() == slots() && numbers_.size() == slots() &&
             expires_.size() == slots(),
         kSlot);
  Claims words = words_.claim_free();
  Claims used(slots());
  used.claim_all(free_slots_, kSlot);
  std::size_t found = 0;
  for_each([&](MessageId id) {
    used.claim(raw(id), kSlot);
    check_record(id, known_tokens, words);
    ++found;
  });
  expect(found == live_, kSlot);
}

}  // namespace nearcast
