/// The tokens of one text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nearcast/text/token_set.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

/// A word without letters, whose data is null, is the place of one that was left out.
inline bool is_gap(std::string_view word) { return word.data() == nullptr; }

/// The known ones among these words, ascending and distinct. Gaps are not words.
void find_tokens(const Vocabulary& words, std::span<const std::string_view> text,
                 std::vector<Token>& tokens);

/// The tokens of a text, ascending and distinct, and how often each occurs (empty: once each).
/// The words of a text that is kept become known, with one use of each that its owner ends by
/// release_all(); unknown words of other texts are left out.
void read_text(Vocabulary& words, std::span<const std::string_view> text, bool is_kept,
               std::vector<Token>& tokens, std::vector<std::uint32_t>& counts);

/// The same of a text that is kept, and its tokens as they follow each other; kUnknownToken: a gap.
void read_kept_text(Vocabulary& words, std::span<const std::string_view> text,
                    std::vector<Token>& tokens, std::vector<std::uint32_t>& counts,
                    std::vector<Token>& order);

}  // namespace nearcast
