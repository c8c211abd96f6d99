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

void find_words_in(const Vocabulary& words, std::span<const std::string_view> text,
                   std::vector<Token>& tokens) {
  if (std::none_of(text.begin(), text.end(), is_gap)) {
    words.find_all(text, tokens);
    return;
  }
  for (const std::string_view word : text) {
    const Token token = is_gap(word) ? kUnknownToken : words.find(word);
    if (token != kUnknownToken) tokens.push_back(token);
  }
}

}  // namespace

void find_tokens(const Vocabulary& words, std::span<const std::string_view> text,
                 std::vector<Token>& tokens) {
  tokens.clear();
  find_words_in(words, text, tokens);
  sort_unique(tokens);
}

void read_text(Vocabulary& words, std::span<const std::string_view> text, bool is_kept,
               std::vector<Token>& tokens, std::vector<std::uint32_t>& counts) {
  tokens.clear();
  if (!is_kept) {
    find_words_in(words, text, tokens);
    count_tokens(tokens, counts, [](Token) {});
    return;
  }
  std::vector<Token> order;
  read_kept_text(words, text, tokens, counts, order);
}

void read_kept_text(Vocabulary& words, std::span<const std::string_view> text,
                    std::vector<Token>& tokens, std::vector<std::uint32_t>& counts,
                    std::vector<Token>& order) {
  tokens.clear();
  order.clear();
  for (const int step : {0, 1}) {
    for (const std::string_view word : text) words.prefetch(word, step);
  }
  for (const std::string_view word : text) {
    order.push_back(is_gap(word) ? kUnknownToken : words.intern(word));
    if (!is_gap(word)) tokens.push_back(order.back());
  }
  count_tokens(tokens, counts, [&](Token token) { words.release(token); });
}

}  // namespace nearcast
