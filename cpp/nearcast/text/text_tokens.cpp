#include "nearcast/text/text_tokens.h"

namespace nearcast {
namespace {

/// Turns a multiset of tokens into a set and how often each occurs. Calls drop(token) for each
/// that is left out.
template <typename Drop>
void count_tokens(std::vector<Token>& tokens, std::vector<std::uint32_t>& counts, Drop&& drop) {
  counts.clear();
  std::sort(tokens.begin(), tokens.end());
  if (std::adjacent_find(tokens.begin(), tokens.end()) == tokens.end()) return;
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i != 0 && tokens[i] == tokens[distinct - 1]) {
      ++counts.back();
      drop(tokens[i]);
    } else {
      tokens[distinct++] = tokens[i];
      counts.push_back(1);
    }
  }
  tokens.resize(distinct);
}

}  // namespace

void find_tokens(const Vocabulary& words, std::span<const std::string_view> text,
                 std::vector<Token>& tokens) {
  tokens.clear();
  words.find_all(text, tokens);
  sort_unique(tokens);
}

void read_text(Vocabulary& words, std::span<const std::string_view> text, bool is_kept,
               std::vector<Token>& tokens, std::vector<std::uint32_t>& counts) {
  tokens.clear();
  if (!is_kept) {
    words.find_all(text, tokens);
    count_tokens(tokens, counts, [](Token) {});
    return;
  }
  for (const int step : {0, 1}) {
    for (const std::string_view word : text) words.prefetch(word, step);
  }
  for (const std::string_view word : text) tokens.push_back(words.intern(word));
  count_tokens(tokens, counts, [&](Token token) { words.release(token); });
}

}  // namespace nearcast
