// up_to_date: tokens of a dictionary that were looked up before the vocabulary changed.
#include "nearcast/columns/reading.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "tests/unit/check.h"

namespace nearcast::unit {
namespace {

constexpr std::string_view kLetters = "ab";
constexpr std::array<std::int64_t, 3> kEnds{0, 1, 2};
constexpr std::array<std::int32_t, 2> kCodes{0, 1};

/// Two messages, with the words a and b of one dictionary, which has these tokens.
MessageColumns coded_messages(std::span<const std::uint32_t> tokens, std::uint64_t version) {
  const WordColumn dictionary{kEnds, kLetters};
  MessageColumns messages;
  messages.texts = WordLists{kEnds, CodedColumn{kCodes, dictionary, tokens, version}};
  messages.rows = 2;
  return messages;
}

std::span<const std::uint32_t> tokens_of(const MessageColumns& messages) {
  return std::get<CodedColumn>(std::get<WordLists>(messages.texts).items).tokens;
}

const Test kStale("tokens of an older vocabulary are looked up again", [] {
  Vocabulary vocabulary;
  const Token a = vocabulary.intern("a");
  const std::vector<std::uint32_t> known = find_words({kEnds, kLetters}, vocabulary);
  const MessageColumns given = coded_messages(known, vocabulary.version());
  std::vector<std::uint32_t> memory;
  check(tokens_of(up_to_date(given, vocabulary, memory)).data() == known.data());
  vocabulary.release(a);
  const Token b = vocabulary.intern("b");  // it may get the number that "a" had
  const auto tokens = tokens_of(up_to_date(given, vocabulary, memory));
  check(tokens.size() == 2 && tokens[0] == raw(kUnknownToken) && tokens[1] == raw(b));
});

}  // namespace
}  // namespace nearcast::unit
