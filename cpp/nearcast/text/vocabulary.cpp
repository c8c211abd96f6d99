#include "nearcast/text/vocabulary.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "nearcast/base/errors.h"
#include "nearcast/base/hash.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/base/utf8.h"

namespace nearcast {

std::uint32_t Vocabulary::find(std::string_view word, std::uint32_t hash) const {
  return table_.find(hash, [&](std::uint32_t number) { return this->word(Token{number}) == word; });
}

Token Vocabulary::find(std::string_view word) const {
  const std::uint32_t number = find(word, hash_of(word));
  return number == TaggedTable::kNone ? kUnknownToken : Token{number};
}

void Vocabulary::prefetch(std::string_view word, int step) const {
  const std::uint32_t hash = hash_of(word);
  if (step == 0) {
    table_.prefetch(hash);
  } else if (const std::uint32_t number = table_.guess(hash); number != TaggedTable::kNone) {
    prefetch_line(&words_[number]);
  }
}

void Vocabulary::find_all(std::span<const std::string_view> words,
                          std::vector<Token>& tokens) const {
  constexpr std::size_t kAtOnce = 32;
  std::uint32_t hashes[kAtOnce];
  for (std::size_t start = 0; start < words.size(); start += kAtOnce) {
    const auto some = words.subspan(start, std::min(kAtOnce, words.size() - start));
    for (std::size_t i = 0; i < some.size(); ++i) {
      hashes[i] = hash_of(some[i]);
      table_.prefetch(hashes[i]);
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::uint32_t number = table_.guess(hashes[i]);
      if (number != TaggedTable::kNone) prefetch_line(&words_[number]);
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::uint32_t number = find(some[i], hashes[i]);
      if (number != TaggedTable::kNone) tokens.push_back(Token{number});
    }
  }
}

Token Vocabulary::intern(std::string_view word) {
  const std::uint32_t hash = hash_of(word);
  const std::uint32_t known = find(word, hash);
  if (known != TaggedTable::kNone) {
    hold(Token{known});
    return Token{known};
  }
  if (word.size() > kMaxLetters || words_.size() >= kMaxWords) {
    too_large(
        "words",
        std::to_string(words_.size()) + " and one of " + std::to_string(word.size()) + " bytes",
        "fewer than 2^31 words, of at most 2^30 bytes each");
  }
  Word made{1, static_cast<std::uint8_t>(word.size()), {}};
  if (word.size() <= kShort) {
    std::memcpy(made.letters, word.data(), word.size());
  } else {
    const auto length = static_cast<std::uint32_t>(word.size());
    const Letters letters{long_letters_.allocate(units(length)), length};
    std::memcpy(long_letters_.at(letters.start), word.data(), length);
    made.length = kLong;
    std::memcpy(made.letters, &letters, sizeof(letters));
  }
  const std::uint32_t number = take_number();
  words_[number] = made;
  table_.insert(hash, number, [](std::uint32_t) { return 0u; });  // the cells know
  ++version_;
  return Token{number};
}

std::uint32_t Vocabulary::take_number() {
  if (free_ == 0) {
    ensure(words_.size() < raw(kUnknownToken), "a vocabulary has 2^32 words");
    words_.resize(words_.size() + 1);
    return static_cast<std::uint32_t>(words_.size() - 1);
  }
  const std::uint32_t number = free_ - 1;
  std::memcpy(&free_, words_[number].letters, sizeof(free_));
  return number;
}

void Vocabulary::hold(Token token) {
  std::uint32_t& uses = words_[raw(token)].uses;
  if (uses != kMany) ++uses;
}

void Vocabulary::release(Token token) {
  std::uint32_t& uses = words_[raw(token)].uses;
  ensure(uses != 0, "a word is released that is not known");
  if (uses == kMany) return;
  if (--uses == 0) forget(raw(token));
}

void Vocabulary::release_all(TokenSpan tokens) {
  for (const Token token : tokens) prefetch_line(&words_[raw(token)]);
  for (const Token token : tokens) release(token);
}

void Vocabulary::keep_distinct(std::vector<Token>& tokens) {
  std::sort(tokens.begin(), tokens.end());
  std::size_t distinct = 0;
  for (const Token token : tokens) {
    if (distinct != 0 && tokens[distinct - 1] == token) {
      release(token);
    } else {
      tokens[distinct++] = token;
    }
  }
  tokens.resize(distinct);
}

void Vocabulary::forget(std::uint32_t number) {
  table_.erase(hash_of(word(Token{number})), number, [](std::uint32_t) { return 0u; });
  Word& gone = words_[number];
  if (gone.length == kLong) {
    const Letters letters = letters_of(gone);
    long_letters_.free(letters.start, units(letters.length));
  }
  gone = Word{};
  std::memcpy(gone.letters, &free_, sizeof(free_));
  free_ = number + 1;
  ++version_;
}

Vocabulary::Letters Vocabulary::letters_of(const Word& word) {
  Letters letters;
  std::memcpy(&letters, word.letters, sizeof(letters));
  return letters;
}

std::string_view Vocabulary::word(Token token) const {
  const Word& known = words_[raw(token)];
  if (known.length != kLong) return {known.letters, known.length};
  const Letters letters = letters_of(known);
  return {reinterpret_cast<const char*>(long_letters_.at(letters.start)), letters.length};
}

std::size_t Vocabulary::memory_bytes() const {
  return words_.memory_bytes() + long_letters_.memory_bytes() + table_.memory_bytes();
}

void Vocabulary::check_invariants() const {
  std::size_t known = 0;
  for (std::uint32_t number = 0; number < slots(); ++number) {
    if (words_[number].uses == 0) continue;
    ++known;
    ensure(find(word(Token{number})) == Token{number}, "vocabulary: a word has another's number");
  }
  ensure(known == size(), "vocabulary: the table has more words than are used");
  std::size_t free = 0;
  for (std::uint32_t next = free_; next != 0; ++free) {
    ensure(next <= slots() && words_[next - 1].uses == 0 && free < slots(),
           "vocabulary: a number in use is taken for a free one");
    std::memcpy(&next, words_[next - 1].letters, sizeof(next));
  }
  ensure(known + free == slots(), "vocabulary: a free number is lost");
}

Claims Vocabulary::check_loaded() const {
  constexpr const char* kWhat = "a word";
  expect(slots() < raw(kUnknownToken), kWhat);
  Claims known(slots()), free(slots()), letters = long_letters_.claim_free();
  for (std::uint32_t next = free_; next != 0;) {
    free.claim(next - 1, kWhat);
    expect(words_[next - 1].uses == 0, kWhat);
    std::memcpy(&next, words_[next - 1].letters, sizeof(next));
  }
  std::size_t count = 0;
  for (std::uint32_t number = 0; number < slots(); ++number) {
    const Word& made = words_[number];
    if (made.uses == 0) continue;
    known.claim(number, kWhat);
    ++count;
    expect(made.length <= kShort || made.length == kLong, kWhat);
    if (made.length == kLong) {
      const auto [start, length] = letters_of(made);
      expect(length > kShort, kWhat);
      ListArena<std::uint32_t>::claim(letters, start, (std::uint64_t{length} + 3) / 4, kWhat);
    }
    // Words that begin with a byte that UTF-8 never has are not of texts: model/term_words.h.
    const std::string_view letters_of_word = word(Token{number});
    expect(letters_of_word.substr(0, 1) == "\xFF" || is_utf8(letters_of_word), kWhat);
  }
  table_.check_loaded(
      slots(), count, [&](std::uint32_t number) { return known.has(number); },
      [&](std::uint32_t number) { return hash_of(word(Token{number})); });
  return known;
}

void Vocabulary::save(ArchiveWriter& out) const {
  out.value(free_);
  words_.save(out);
  long_letters_.save(out);
  table_.save(out);
}

void Vocabulary::load(ArchiveReader& in) {
  free_ = in.value<std::uint32_t>();
  words_.load(in);
  long_letters_.load(in);
  table_.load(in);
  ++version_;
}

}  // namespace nearcast
