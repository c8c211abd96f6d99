#include "nearcast/text/vocabulary.h"

#include <algorithm>
#include <cstring>

#include "nearcast/base/hash.h"
#include "nearcast/base/prefetch.h"

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
  if (known != TaggedTable::kNone) return Token{known};

  const auto number = static_cast<std::uint32_t>(words_.size());
  Word made{static_cast<std::uint32_t>(word.size()), {}};
  if (word.size() <= kShort) {
    std::memcpy(made.letters, word.data(), word.size());
  } else {
    const std::uint64_t start = long_letters_.size();
    long_letters_.resize(start + word.size());
    std::memcpy(long_letters_.data() + start, word.data(), word.size());
    std::memcpy(made.letters, &start, sizeof(start));
  }
  words_.push_back(made);
  table_.insert(hash, number, [](std::uint32_t) { return 0u; });  // the cells know
  return Token{number};
}

std::string_view Vocabulary::word(Token token) const {
  const Word& known = words_[raw(token)];
  if (known.length <= kShort) return {known.letters, known.length};
  std::uint64_t start;
  std::memcpy(&start, known.letters, sizeof(start));
  return {long_letters_.data() + start, known.length};
}

std::size_t Vocabulary::memory_bytes() const {
  return words_.memory_bytes() + long_letters_.memory_bytes() + table_.memory_bytes();
}

void Vocabulary::save(ArchiveWriter& out) const {
  words_.save(out);
  long_letters_.save(out);
  table_.save(out);
}

void Vocabulary::load(ArchiveReader& in) {
  words_.load(in);
  long_letters_.load(in);
  table_.load(in);
}

}  // namespace nearcast
