/// What a message in a store says beyond its set of words, in a few words of 32 bits: the order of
/// its tokens, as positions in their ascending list, and its attributes as bytes.
///
///   head           bits 3–31 words of the text, bits 1–2 bytes of a position (1, 2, 4), bit 0:
///                  are there attributes?
///   [length]       of the attributes, in bytes
///   positions      the largest value: the place of a word that was left out
///   [attributes]   model/attribute.h
///
/// A message of one word without attributes has none of this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "nearcast/text/token_set.h"

namespace nearcast {

class KeptSaying {
 public:
  using Word = std::uint32_t;
  static constexpr Word kMaxPlaces = (1u << 29) - 1;  ///< words of a text

  explicit KeptSaying(const Word* head) : head_(head) {}

  Word places() const { return head_[0] >> 3; }
  Word width() const { return Word{1} << (head_[0] >> 1 & 3); }
  Word attribute_bytes() const { return has_attributes() ? head_[1] : 0; }
  std::uint64_t size() const {  ///< in words of 32 bits, the head included
    return head_words() + order_words() + (std::uint64_t{attribute_bytes()} + 3) / 4;
  }
  std::string_view attributes() const {
    return {reinterpret_cast<const char*>(head_ + head_words() + order_words()), attribute_bytes()};
  }
  /// The tokens in their order, of a message that has these; kUnknownToken: a place without one.
  void read_order(TokenSpan tokens, std::vector<Token>& order) const {
    order.clear();
    const auto* bytes = reinterpret_cast<const unsigned char*>(head_ + head_words());
    for (Word i = 0; i < places(); ++i) {
      Word position = 0;
      std::memcpy(&position, bytes + std::size_t{i} * width(), width());
      order.push_back(position < tokens.size() ? tokens[position] : kUnknownToken);
    }
  }
  /// Is the width one of the three, and is each position that of one of so many tokens, or a gap?
  bool is_sound(std::size_t tokens) const {
    if ((head_[0] >> 1 & 3) == 3) return false;
    const Word gap = width() == 4 ? ~Word{0} : (Word{1} << 8 * width()) - 1;
    const auto* bytes = reinterpret_cast<const unsigned char*>(head_ + head_words());
    for (Word i = 0; i < places(); ++i) {
      Word position = 0;
      std::memcpy(&position, bytes + std::size_t{i} * width(), width());
      if (position >= tokens && position != gap) return false;
    }
    return true;
  }

  /// Appends it: `order` has tokens of `tokens`, or kUnknownToken.
  static void write(TokenSpan tokens, TokenSpan order, std::string_view attributes,
                    std::vector<Word>& out);

 private:
  bool has_attributes() const { return (head_[0] & 1) != 0; }
  Word head_words() const { return has_attributes() ? 2 : 1; }
  std::uint64_t order_words() const { return (std::uint64_t{places()} * width() + 3) / 4; }

  const Word* head_;
};

}  // namespace nearcast
