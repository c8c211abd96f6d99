/// Words and their numbers. Words are never forgotten, so a token means the same for ever.
///
/// Finding a word reads two places: a cell of the table, and the word's own 24 bytes, where all but
/// long words stand in full. find_all() asks for the places of all words before it reads any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/slot_table.h"

namespace nearcast {

class Vocabulary {
 public:
  std::size_t size() const { return words_.size(); }

  Token intern(std::string_view word);      ///< the word's token, made if it is new
  Token find(std::string_view word) const;  ///< kUnknownToken: never seen
  std::string_view word(Token token) const;
  /// Pull what find() and intern() will read into the cache: first step 0, then step 1.
  void prefetch(std::string_view word, int step) const;

  /// Appends the tokens of those words that are known.
  void find_all(std::span<const std::string_view> words, std::vector<Token>& tokens) const;

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  static constexpr std::size_t kShort = 20;
  struct Word {
    std::uint32_t length;
    char letters[kShort];  ///< of a longer word: 8 bytes position in long_letters_
  };

  std::uint32_t find(std::string_view word, std::uint32_t hash) const;

  Array<Word> words_;
  Array<char> long_letters_;
  TaggedTable table_;
};

}  // namespace nearcast
