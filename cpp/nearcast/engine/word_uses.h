/// What the owner of a vocabulary does with it beside reading texts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/columns/reading.h"
#include "nearcast/modes/mode.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

/// Throws an internal error unless each word is used as often as was counted, by token.
inline void check_word_uses(const Vocabulary& words, std::span<const std::uint32_t> uses) {
  for (std::uint32_t token = 0; token < uses.size(); ++token) {
    ensure(words.uses(Token{token}) == uses[token],
           "words: one is used more or less often than was counted");
  }
}

/// Calls use(epoch) with an epoch in tokens. Its words are known meanwhile, also those that no
/// subscription has yet; what keeps the epoch holds them for longer.
template <typename Use>
void with_tokens(const EpochColumns& columns, Vocabulary& words, Use&& use) {
  columns.check();
  const std::vector<Token> tokens = intern_words(columns.words, words);
  const std::vector<TokenWeights::Count> counts = columns.counts(tokens);
  use(Epoch{columns.documents, counts});
  words.release_all(tokens);
}

}  // namespace nearcast
