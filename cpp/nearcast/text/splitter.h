/// Splits text into words without knowing Unicode: ASCII letters (lowered) and digits, and every
/// byte beyond ASCII, belong to words. That is the default analyzer's answer for ASCII text, and
/// for text that was analysed before and joined by spaces; nothing else may be given to it.
#pragma once

#include <string>
#include <string_view>

namespace nearcast {

inline bool is_word_byte(unsigned char byte) {
  return byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') ||
         (byte >= 'A' && byte <= 'Z');
}

/// Calls visit(word) for each word; `buffer` is scratch that keeps its memory between calls.
template <typename Visit>
void split_words(std::string_view text, std::string& buffer, Visit&& visit) {
  buffer.assign(text);
  for (char& letter : buffer) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  std::size_t at = 0;
  while (at < buffer.size()) {
    while (at < buffer.size() && !is_word_byte(static_cast<unsigned char>(buffer[at]))) ++at;
    std::size_t end = at;
    while (end < buffer.size() && is_word_byte(static_cast<unsigned char>(buffer[end]))) ++end;
    if (end > at) visit(std::string_view(buffer).substr(at, end - at));
    at = end;
  }
}

}  // namespace nearcast
