/// Words and their numbers. A word is known as long as something uses it; then it is forgotten, and
/// its number is given to the next new word.
///
/// What a user of tokens must do:
/// - Hold a use of every token that it keeps. intern() counts one use for each call, also for a
///   word that is known; hold() counts another. release() ends one, and the last one forgets the
///   word. An engine holds uses for each clause of its subscriptions (once for each distinct token,
///   wanted or not), for each message that lives, for the words of the weights epoch in force and
///   for those of the sample that was learned last.
/// - Expect another word under a number that it released. What is kept by number after the last
///   use may cost time, but must not change an answer: a position in an order of tokens or a count
///   of what was heard may stay, an entry of a list or a weight may not.
/// - Need memory for the numbers below slots() at most: these are as many as there were words at
///   one time, not as many as there ever were.
///
/// A token that is found without a use means its word while version() stays the same.
///
/// Finding a word reads two places: a cell of the table, and the word's own 24 bytes, where all but
/// long words are stored in full and uses are counted. find_all() prefetches the places of all
/// words before it reads any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/slot_table.h"
#include "nearcast/text/token_set.h"

namespace nearcast {

class Vocabulary {
 public:
  std::size_t size() const { return table_.size(); }   ///< words that are known
  std::size_t slots() const { return words_.size(); }  ///< tokens are below this
  /// Changes whenever a word becomes known or is forgotten.
  std::uint64_t version() const { return version_; }

  Token intern(std::string_view word);      ///< the word's token, made if it is new; one more use
  Token find(std::string_view word) const;  ///< kUnknownToken: not known
  std::string_view word(Token token) const;
  /// Pull what find() and intern() will read into the cache: first step 0, then step 1.
  void prefetch(std::string_view word, int step) const;

  /// Appends the tokens of those words that are known.
  void find_all(std::span<const std::string_view> words, std::vector<Token>& tokens) const;

  void hold(Token token);  ///< one more use of a word that is known
  void release(Token token);
  void release_all(TokenSpan tokens);
  /// Sorts the tokens of so many uses and leaves each once, with one use.
  void keep_distinct(std::vector<Token>& tokens);
  std::uint32_t uses(Token token) const { return words_[raw(token)].uses; }

  std::size_t memory_bytes() const;
  void check_invariants() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Throws a snapshot error if what was read is not sound. Returns the tokens of all known words.
  Claims check_loaded() const;

 private:
  static constexpr std::size_t kShort = 19;   ///< bytes of a word that is stored in place
  static constexpr std::uint8_t kLong = 255;  ///< instead of the length
  static constexpr std::uint32_t kMany =
      0xFFFFFFFF;  ///< uses beyond are not counted: the word stays
  static constexpr std::size_t kMaxLetters = std::size_t{1} << 30;
  static constexpr std::size_t kMaxWords = 0x7FFFFFF0u;  ///< Rt-trees keep a flag beside a token
  struct Word {
    std::uint32_t uses;  ///< 0: the number is free
    std::uint8_t length;
    char letters[kShort];  ///< of a longer word: Letters; of a free number: the next free one + 1
  };
  static_assert(sizeof(Word) == 24);
  struct Letters {
    std::uint32_t start, length;
  };

  std::uint32_t find(std::string_view word, std::uint32_t hash) const;
  static Letters letters_of(const Word& word);
  static std::uint32_t units(std::uint32_t length) { return (length + 3) / 4; }
  std::uint32_t take_number();
  void forget(std::uint32_t number);

  Array<Word> words_;
  ListArena<std::uint32_t> long_letters_;  ///< of words that are not short, four to a unit
  TaggedTable table_;
  std::uint32_t free_ = 0;  ///< a free number + 1; 0: there is none
  std::uint64_t version_ = 0;
};

}  // namespace nearcast
