#include "nearcast/model/external_ids.h"

#include <cstring>

#include "nearcast/base/errors.h"
#include "nearcast/base/hash.h"
#include "nearcast/base/utf8.h"

namespace nearcast {
namespace {

std::uint32_t hash_of_id(const ExternalId& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id))
    return hash_of(static_cast<std::uint64_t>(*number));
  return hash_of(std::get<std::string_view>(id));
}

}  // namespace

std::string quoted(const ExternalId& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) return std::to_string(*number);
  std::string text = "'";
  for (const char letter : std::get<std::string_view>(id)) {
    if (static_cast<unsigned char>(letter) < ' ') {  // a message is one line, whatever the id
      constexpr char kDigits[] = "0123456789abcdef";
      text += {'\\', 'x', kDigits[letter >> 4], kDigits[letter & 15]};
    } else {
      text += letter;
    }
  }
  return text + "'";
}

template <std::uint32_t kGroups>
std::uint32_t GroupedIds<kGroups>::hash_of_number(std::uint32_t number) const {
  return hash_of_id(id(number));
}

template <std::uint32_t kGroups>
ExternalId GroupedIds<kGroups>::id(std::uint32_t number) const {
  if (kind_ == Kind::kWords) return word(number);
  return whole(number);
}

template <std::uint32_t kGroups>
std::string_view GroupedIds<kGroups>::word(std::uint32_t number) const {
  const std::uint32_t* at = letters_.at(columns_[group_of(number)].words[slot_of(number)]);
  return {reinterpret_cast<const char*>(at + 1), *at};
}

template <std::uint32_t kGroups>
std::uint32_t GroupedIds<kGroups>::find(const ExternalId& id) const {
  if (const auto* wanted = std::get_if<std::int64_t>(&id)) {
    if (kind_ != Kind::kNumbers) return kNone;
    return table_.find(hash_of_id(id),
                       [&](std::uint32_t number) { return whole(number) == *wanted; });
  }
  if (kind_ != Kind::kWords) return kNone;
  const auto wanted = std::get<std::string_view>(id);
  return table_.find(hash_of(wanted), [&](std::uint32_t number) { return word(number) == wanted; });
}

template <std::uint32_t kGroups>
std::uint32_t GroupedIds<kGroups>::require(const ExternalId& id) const {
  const std::uint32_t number = find(id);
  if (number != kNone) return number;
  throw Error(ErrorKind::kUnknownId, "subscription " + quoted(id), "an id that is not subscribed",
              "an id in use");
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::prefetch(const ExternalId& id) const {
  table_.prefetch(hash_of_id(id));
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::check_room(std::string_view word) const {
  if (word.size() <= kMaxLetters && 2 * units(word.size()) <= letters_.room()) return;
  too_large("id", std::to_string(word.size()) + " bytes",
            "at most 2^30, and 2^34 of all ids together");
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::check_new(const ExternalId& id) const {
  check_kind(id);
  if (const auto* word = std::get_if<std::string_view>(&id)) check_room(*word);
  if (find(id) == kNone) return;
  throw Error(ErrorKind::kDuplicateId, "subscription " + quoted(id), "an id that is in use",
              "a new id", "unsubscribe the old one first");
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::check_kind(const ExternalId& id) const {
  const Kind kind = std::holds_alternative<std::int64_t>(id) ? Kind::kNumbers : Kind::kWords;
  if (table_.size() == 0 || kind == kind_) return;
  throw Error(ErrorKind::kInvalidSubscription, "id " + quoted(id),
              kind == Kind::kWords ? "a string" : "a whole number",
              kind == Kind::kWords ? "a whole number, like the ids already there"
                                   : "a string, like the ids already there");
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::bind(const ExternalId& id, std::uint32_t number) {
  Column& own = columns_[group_of(number)];
  const std::uint32_t slot = slot_of(number);
  if (const auto* value = std::get_if<std::int64_t>(&id)) {
    kind_ = Kind::kNumbers;
    if (own.low.size() <= slot) own.low.resize(slot + 1);
    const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(*value) >> 32);
    if ((high != 0 || !own.high.empty()) && own.high.size() < own.low.size())
      own.high.resize(own.low.size());
    own.low[slot] = static_cast<std::uint32_t>(*value);
    if (!own.high.empty()) own.high[slot] = high;
  } else {
    kind_ = Kind::kWords;
    const auto letters = std::get<std::string_view>(id);
    if (own.words.size() <= slot) own.words.resize(slot + 1);
    own.words[slot] = letters_.allocate(units(letters.size()));
    std::uint32_t* at = letters_.at(own.words[slot]);
    *at = static_cast<std::uint32_t>(letters.size());
    std::memcpy(at + 1, letters.data(), letters.size());
  }
  table_.insert(hash_of_id(id), number, [&](std::uint32_t other) { return hash_of_number(other); });
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::release(std::uint32_t number) {
  hide(number);
  forget(number);
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::hide(std::uint32_t number) {
  table_.erase(hash_of_number(number), number,
               [&](std::uint32_t other) { return hash_of_number(other); });
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::forget(std::uint32_t number) {
  if (kind_ != Kind::kWords) return;
  const std::uint32_t position = columns_[group_of(number)].words[slot_of(number)];
  letters_.free(position, units(*letters_.at(position)));
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::reserve(std::size_t count) {
  table_.reserve(count, [&](std::uint32_t other) { return hash_of_number(other); });
}

template <std::uint32_t kGroups>
std::size_t GroupedIds<kGroups>::memory_bytes() const {
  std::size_t bytes = table_.memory_bytes() + letters_.memory_bytes();
  for (const Column& own : columns_)
    bytes += own.low.memory_bytes() + own.high.memory_bytes() + own.words.memory_bytes();
  return bytes;
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::check_number(std::uint32_t number, Claims& letters) const {
  constexpr const char* kWhat = "an id";
  const Column& own = columns_[group_of(number)];
  const std::uint32_t slot = slot_of(number);
  if (kind_ == Kind::kNumbers) {
    expect(slot < own.low.size() && (own.high.empty() || slot < own.high.size()), kWhat);
    return;
  }
  expect(slot < own.words.size() && own.words[slot] < letters_.places(), kWhat);
  const std::uint64_t length = *letters_.at(own.words[slot]);
  ListArena<std::uint32_t>::claim(letters, own.words[slot], 1 + (length + 3) / 4, kWhat);
  expect(is_utf8(word(number)), kWhat);
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::save(ArchiveWriter& out) const {
  out.value(kind_);
  table_.save(out);
  for (const Column& own : columns_) {
    own.low.save(out);
    own.high.save(out);
    own.words.save(out);
  }
  letters_.save(out);
}

template <std::uint32_t kGroups>
void GroupedIds<kGroups>::load(ArchiveReader& in) {
  kind_ = in.value<Kind>();
  table_.load(in);
  for (Column& own : columns_) {
    own.low.load(in);
    own.high.load(in);
    own.words.load(in);
  }
  letters_.load(in);
}

template class GroupedIds<1>;  // messages, and subscriptions of one mode
template class GroupedIds<3>;  // subscriptions of a hub, by mode

}  // namespace nearcast
