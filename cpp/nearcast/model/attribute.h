/// What a message says of itself beside its text: names with a number, a text, a truth value, or a
/// list of texts. A list is one attribute per text, one after the other.
///
/// Kept messages have their attributes as bytes; for_each_attribute() reads them.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace nearcast {

enum class ValueKind : std::uint8_t { kNumber, kText, kTruth, kNoTexts };

/// The views live as long as what they were read from. kNoTexts: a list that is empty.
struct Attribute {
  std::string_view name;  ///< without a zero byte
  ValueKind kind = ValueKind::kNumber;
  double number = 0;  ///< finite; of a truth value 0 or 1
  std::string_view text;
};

/// Numbers in the order of their values, as whole numbers: −0 and 0 are one.
inline std::uint64_t ordered_key(double number) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// Appends an attribute: kind, length of the name, name, and the value.
inline void append_attribute(const Attribute& attribute, std::string& bytes) {
  const auto append = [&](std::string_view text) {
    const auto length = static_cast<std::uint32_t>(text.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
    bytes.append(text);
  };
  bytes += static_cast<char>(attribute.kind);
  append(attribute.name);
  if (attribute.kind == ValueKind::kText) append(attribute.text);
  if (attribute.kind == ValueKind::kNumber || attribute.kind == ValueKind::kTruth)
    bytes.append(reinterpret_cast<const char*>(&attribute.number), sizeof(double));
}

/// Calls visit(attribute) for each. False: the bytes are not what append_attribute() writes.
template <typename Visit>
bool for_each_attribute(std::string_view bytes, Visit&& visit) {
  const auto take = [&](void* to, std::size_t count) {
    if (bytes.size() < count) return false;
    std::memcpy(to, bytes.data(), count);
    bytes.remove_prefix(count);
    return true;
  };
  const auto take_text = [&](std::string_view& text) {
    std::uint32_t length = 0;
    if (!take(&length, sizeof(length)) || bytes.size() < length) return false;
    text = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return true;
  };
  while (!bytes.empty()) {
    Attribute found;
    std::uint8_t kind = 0;
    if (!take(&kind, 1) || kind > static_cast<std::uint8_t>(ValueKind::kNoTexts)) return false;
    found.kind = static_cast<ValueKind>(kind);
    if (!take_text(found.name)) return false;
    if (found.kind == ValueKind::kText && !take_text(found.text)) return false;
    if ((found.kind == ValueKind::kNumber || found.kind == ValueKind::kTruth) &&
        (!take(&found.number, sizeof(double)) || !std::isfinite(found.number)))
      return false;
    visit(found);
  }
  return true;
}

}  // namespace nearcast
