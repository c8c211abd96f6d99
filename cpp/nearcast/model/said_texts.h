/// What users said, word for word, where the subscriptions do not tell: bytes by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/errors.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/utf8.h"

namespace nearcast {

class SaidTexts {
 public:
  std::string_view operator[](std::uint32_t number) const {  ///< empty: nothing was said
    if (number >= places_.size() || places_[number] == 0) return {};
    const std::uint32_t* text = letters_.at(places_[number] - 1);
    return {reinterpret_cast<const char*>(text + 1), *text};
  }
  void check_room(std::string_view text) const {  ///< throws a capacity error
    if (text.size() > kMaxLetters || text.size() + 64 > letters_.room())
      too_large("what was said", std::to_string(text.size()) + " bytes",
                "at most 2^30, and 2^34 of all");
  }
  void set(std::uint32_t number, std::string_view text) {  ///< has none yet
    if (text.empty()) return;
    const std::uint32_t place = letters_.allocate(units(text.size()));
    *letters_.at(place) = static_cast<std::uint32_t>(text.size());
    std::memcpy(letters_.at(place) + 1, text.data(), text.size());
    if (places_.size() <= number) places_.resize(number + 1);
    places_[number] = place + 1;
  }
  void forget(std::uint32_t number) {  ///< also if it has none
    if (number >= places_.size() || places_[number] == 0) return;
    letters_.free(places_[number] - 1, units(*letters_.at(places_[number] - 1)));
    places_[number] = 0;
  }

  std::size_t memory_bytes() const { return places_.memory_bytes() + letters_.memory_bytes(); }
  void save(ArchiveWriter& out) const {
    places_.save(out);
    letters_.save(out);
  }
  void load(ArchiveReader& in) {
    places_.load(in);
    letters_.load(in);
  }
  /// Throws a snapshot error if what was read is not sound, or is of a number that is_used() does
  /// not accept.
  template <typename IsUsed>
  void check_loaded(IsUsed&& is_used) const {
    constexpr const char* kWhat = "what was said";
    Claims claims = letters_.claim_free();
    for (std::uint32_t number = 0; number < places_.size(); ++number) {
      if (places_[number] == 0) continue;
      const std::uint32_t place = places_[number] - 1;
      expect(place < letters_.places() && is_used(number), kWhat);
      const std::size_t length = *letters_.at(place);
      expect(length != 0 && length <= kMaxLetters, kWhat);
      ListArena<std::uint32_t>::claim(claims, place, units(length), kWhat);
      expect(is_utf8((*this)[number]), kWhat);
    }
  }

 private:
  static constexpr std::size_t kMaxLetters = std::size_t{1} << 30;
  static std::uint32_t units(std::size_t length) {
    return 1 + static_cast<std::uint32_t>((length + 3) / 4);
  }

  Array<std::uint32_t> places_;  ///< place + 1 in letters_; 0: nothing
  ListArena<std::uint32_t> letters_;
};

}  // namespace nearcast
