/// What the engines of all modes do with columns: check places, turn words into tokens, walk
/// through a batch of messages, write ids.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/base/ids.h"
#include "nearcast/engine/columns.h"
#include "nearcast/engine/external_ids.h"
#include "nearcast/engine/stopwatch.h"
#include "nearcast/model/message.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

/// Memory for reading messages, kept between batches.
struct ReadingScratch {
  std::array<std::vector<Token>, 4> tokens;  ///< of this message and of those that come next
  std::vector<std::string_view> words;
  std::string letters;
};

inline bool is_flagged(std::span<const std::uint8_t> flags, std::size_t row) {
  return !flags.empty() && flags[row] != 0;
}

std::size_t size_of(const IdColumn& ids);
ExternalId id_at(const IdColumn& ids, std::size_t row);

/// The slots of ids, each given once; otherwise throws an unknown-id error.
std::vector<SubscriptionId> slots_of(const ExternalIds& known, const IdColumn& ids);

/// Throws an error that names the row, what it has and what is wanted.
[[noreturn]] void refuse(ErrorKind kind, std::size_t row, const std::string& what, double got,
                         const std::string& wanted);
void check_place(ErrorKind kind, const PlaceColumns& places, std::size_t row);
void check_places(const MessageColumns& messages);
/// One to kMaxTokens keywords in this row?
void check_keywords(const WordLists& keywords, std::size_t row, const char* hint_if_none);

/// The tokens of one row, ascending and distinct; new words become known.
void intern_row(const WordLists& lists, std::size_t row, Vocabulary& vocabulary,
                std::vector<Token>& tokens);
/// The known ones among these words, ascending and distinct.
void find_tokens(const Vocabulary& vocabulary, std::span<const std::string_view> words,
                 std::vector<Token>& tokens);
/// The words of one message, or its tokens if they came as codes.
void read_words(const TextColumn& texts, std::size_t row, std::string& letters,
                std::vector<std::string_view>& words, std::vector<Token>& tokens);

/// Tokens of a dictionary's words, by position.
template <typename TokenOf>
std::vector<std::uint32_t> dictionary_tokens(const WordColumn& words, TokenOf&& token_of) {
  std::vector<std::uint32_t> tokens(words.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = raw(token_of(words[i]));
  return tokens;
}

void append_ids(const ExternalIds& ids, std::span<const SubscriptionId> slots, MatchColumns& out);

/// Calls visit(row, message) for each message of a batch. A message is read two before its turn,
/// and what it will need is asked for meanwhile: prefetch(message, 0), then prefetch(message, 1).
template <typename Prefetch, typename Visit>
void for_each_message(const MessageColumns& messages, const Vocabulary& vocabulary, bool is_timed,
                      ReadingScratch& scratch, MatchColumns& out, Prefetch&& prefetch,
                      Visit&& visit) {
  const auto message_of = [&](std::size_t row) {
    return Message{scratch.tokens[row % scratch.tokens.size()], messages.places[row]};
  };
  const auto approach = [&](std::size_t row) {
    if (row >= messages.rows) return;
    std::vector<Token>& tokens = scratch.tokens[row % scratch.tokens.size()];
    read_words(messages.texts, row, scratch.letters, scratch.words, tokens);
    vocabulary.find_all(scratch.words, tokens);
    sort_unique(tokens);
    prefetch(message_of(row), 0);
  };
  Stopwatch watch;
  if (is_timed) out.nanoseconds.reserve(messages.rows);
  approach(0);
  approach(1);
  for (std::size_t row = 0; row < messages.rows; ++row) {
    approach(row + 2);
    if (row + 1 < messages.rows) prefetch(message_of(row + 1), 1);
    visit(row, message_of(row));
    if (is_timed) watch.lap(out.nanoseconds);
  }
  out.cpu_seconds = watch.cpu_seconds();
  watch.finish(out.nanoseconds);
}

}  // namespace nearcast
