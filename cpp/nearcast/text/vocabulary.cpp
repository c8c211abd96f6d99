#include "nearcast/text/vocabulary.h"

#include <cstring>

#include "nearcast/base/hash.h"

namespace nearcast {

std::uint32_t Vocabulary::find(std::string_view word, std::uint32_t hash) const {
  return table_.find(hash, [&](std::uint32_t number) {
    const Word& known = words_[number];
    return known.hash == hash && known.length == word.size() &&
           std::memcmp(letters_.data() + known.start, word.data(), word.size()) == 0;
  });
}

Token Vocabulary::find(std::string_view word) const {
  const std::uint32_t number = find(word, hash_of(word));
  return number == SlotTable::kNone ? kUnknownToken : Token{number};
}

Token Vocabulary::intern(std::string_view word) {
  const std::uint32_t hash = hash_of(word);
  const std::uint32_t known = find(word, hash);
  if (known != SlotTable::kNone) return Token{known};

  const auto number = static_cast<std::uint32_t>(words_.size());
  const std::size_t start = letters_.size();
  letters_.resize(start + word.size());
  std::memcpy(letters_.data() + start, word.data(), word.size());
  words_.push_back({start, static_cast<std::uint32_t>(word.size()), hash});
  table_.insert(hash, number, [&](std::uint32_t other) { return words_[other].hash; });
  return Token{number};
}

std::string_view Vocabulary::word(Token token) const {
  const Word& known = words_[raw(token)];
  return {letters_.data() + known.start, known.length};
}

std::size_t Vocabulary::memory_bytes() const {
  return words_.memory_bytes() + letters_.memory_bytes() + table_.memory_bytes();
}

void Vocabulary::save(ArchiveWriter& out) const {
  words_.save(out);
  letters_.save(out);
  table_.save(out);
}

void Vocabulary::load(ArchiveReader& in) {
  words_.load(in);
  letters_.load(in);
  table_.load(in);
}

}  // namespace nearcast
