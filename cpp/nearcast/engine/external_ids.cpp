#include "nearcast/engine/external_ids.h"

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

std::uint32_t ExternalIds::hash_of_slot(std::uint32_t slot) const { return hash_of_id(id(slot)); }

ExternalId ExternalIds::id(std::uint32_t slot) const {
  if (kind_ == Kind::kWords) return word(slot);
  return number(slot);
}

std::string_view ExternalIds::word(std::uint32_t slot) const {
  const std::uint32_t* at = letters_.at(words_[slot]);
  return {reinterpret_cast<const char*>(at + 1), *at};
}

std::uint32_t ExternalIds::find(const ExternalId& id) const {
  if (const auto* number = std::get_if<std::int64_t>(&id)) {
    if (kind_ != Kind::kNumbers) return kNone;
    return table_.find(hash_of_id(id),
                       [&](std::uint32_t slot) { return this->number(slot) == *number; });
  }
  if (kind_ != Kind::kWords) return kNone;
  const auto wanted = std::get<std::string_view>(id);
  return table_.find(hash_of(wanted), [&](std::uint32_t slot) { return word(slot) == wanted; });
}

std::uint32_t ExternalIds::slot_of(const ExternalId& id) const {
  const std::uint32_t slot = find(id);
  if (slot != kNone) return slot;
  throw Error(ErrorKind::kUnknownId, "subscription " + quoted(id), "an id that is not subscribed",
              "an id in use");
}

void ExternalIds::prefetch(const ExternalId& id) const { table_.prefetch(hash_of_id(id)); }

void ExternalIds::check_new(const ExternalId& id) const {
  check_kind(id);
  if (const auto* word = std::get_if<std::string_view>(&id)) {
    if (word->size() > kMaxLetters || 2 * units(word->size()) > letters_.room())
      too_large("id", std::to_string(word->size()) + " bytes",
                "at most 2^30, and 2^34 of all ids together");
  }
  if (find(id) == kNone) return;
  throw Error(ErrorKind::kDuplicateId, "subscription " + quoted(id), "an id that is in use",
              "a new id", "unsubscribe the old one first");
}

void ExternalIds::check_kind(const ExternalId& id) const {
  const Kind kind = std::holds_alternative<std::int64_t>(id) ? Kind::kNumbers : Kind::kWords;
  if (table_.size() == 0 || kind == kind_) return;
  throw Error(ErrorKind::kInvalidSubscription, "id " + quoted(id),
              kind == Kind::kWords ? "a string" : "a whole number",
              kind == Kind::kWords ? "a whole number, like the ids already there"
                                   : "a string, like the ids already there");
}

void ExternalIds::bind(const ExternalId& id, std::uint32_t slot) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) {
    kind_ = Kind::kNumbers;
    if (low_.size() <= slot) low_.resize(slot + 1);
    const auto high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(*number) >> 32);
    if ((high != 0 || !high_.empty()) && high_.size() < low_.size()) high_.resize(low_.size());
    low_[slot] = static_cast<std::uint32_t>(*number);
    if (!high_.empty()) high_[slot] = high;
  } else {
    kind_ = Kind::kWords;
    const auto letters = std::get<std::string_view>(id);
    if (words_.size() <= slot) words_.resize(slot + 1);
    words_[slot] = letters_.allocate(units(letters.size()));
    std::uint32_t* at = letters_.at(words_[slot]);
    *at = static_cast<std::uint32_t>(letters.size());
    std::memcpy(at + 1, letters.data(), letters.size());
  }
  table_.insert(hash_of_id(id), slot, [&](std::uint32_t other) { return hash_of_slot(other); });
}

void ExternalIds::release(std::uint32_t slot) {
  hide(slot);
  forget(slot);
}

void ExternalIds::hide(std::uint32_t slot) {
  table_.erase(hash_of_slot(slot), slot, [&](std::uint32_t other) { return hash_of_slot(other); });
}

void ExternalIds::forget(std::uint32_t slot) {
  if (kind_ == Kind::kWords) letters_.free(words_[slot], units(*letters_.at(words_[slot])));
}

void ExternalIds::reserve(std::size_t count) {
  table_.reserve(count, [&](std::uint32_t other) { return hash_of_slot(other); });
}

std::size_t ExternalIds::memory_bytes() const {
  return table_.memory_bytes() + low_.memory_bytes() + high_.memory_bytes() +
         words_.memory_bytes() + letters_.memory_bytes();
}

void ExternalIds::check_slot(std::uint32_t slot, Claims& letters) const {
  constexpr const char* kWhat = "an id";
  if (kind_ == Kind::kNumbers) {
    expect(slot < low_.size() && (high_.empty() || slot < high_.size()), kWhat);
    return;
  }
  expect(slot < words_.size() && words_[slot] < letters_.places(), kWhat);
  const std::uint64_t length = *letters_.at(words_[slot]);
  ListArena<std::uint32_t>::claim(letters, words_[slot], 1 + (length + 3) / 4, kWhat);
  expect(is_utf8(word(slot)), kWhat);
}

void ExternalIds::save(ArchiveWriter& out) const {
  out.value(kind_);
  table_.save(out);
  low_.save(out);
  high_.save(out);
  words_.save(out);
  letters_.save(out);
}

void ExternalIds::load(ArchiveReader& in) {
  kind_ = in.value<Kind>();
  table_.load(in);
  low_.load(in);
  high_.load(in);
  words_.load(in);
  letters_.load(in);
}

}  // namespace nearcast
