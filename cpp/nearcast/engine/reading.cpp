#include "nearcast/engine/reading.h"

#include <cmath>

#include "nearcast/model/subscription_store.h"
#include "nearcast/text/splitter.h"

namespace nearcast {
namespace {

template <typename TokenOf>
std::vector<std::uint32_t> dictionary_tokens(const WordColumn& words, const Vocabulary& vocabulary,
                                             TokenOf&& token_of) {
  constexpr std::size_t kAhead = 8;  // words between one step and the next
  std::vector<std::uint32_t> tokens(words.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i + 2 * kAhead < tokens.size()) vocabulary.prefetch(words[i + 2 * kAhead], 0);
    if (i + kAhead < tokens.size()) vocabulary.prefetch(words[i + kAhead], 1);
    tokens[i] = raw(token_of(words[i]));
  }
  return tokens;
}

}  // namespace

std::vector<std::uint32_t> intern_words(const WordColumn& words, Vocabulary& vocabulary) {
  return dictionary_tokens(words, vocabulary,
                           [&](std::string_view word) { return vocabulary.intern(word); });
}

std::vector<std::uint32_t> find_words(const WordColumn& words, const Vocabulary& vocabulary) {
  return dictionary_tokens(words, vocabulary,
                           [&](std::string_view word) { return vocabulary.find(word); });
}

std::size_t size_of(const IdColumn& ids) {
  return std::visit([](const auto& column) { return column.size(); }, ids);
}

ExternalId id_at(const IdColumn& ids, std::size_t row) {
  return std::visit([&](const auto& column) { return ExternalId(column[row]); }, ids);
}

std::vector<SubscriptionId> slots_of(const ExternalIds& known, const IdColumn& ids) {
  std::vector<SubscriptionId> slots;
  slots.reserve(size_of(ids));
  for (std::size_t row = 0; row < size_of(ids); ++row) {
    if (row + kIdsAhead < size_of(ids)) known.prefetch(id_at(ids, row + kIdsAhead));
    slots.push_back(SubscriptionId{known.slot_of(id_at(ids, row))});
  }
  std::vector<SubscriptionId> sorted(slots);
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return slots;
  const auto first = std::find(slots.begin(), slots.end(), *twice);
  const auto row = std::find(first + 1, slots.end(), *twice) - slots.begin();
  throw Error(ErrorKind::kUnknownId,
              "row " + std::to_string(row) + ": subscription " +
                  quoted(id_at(ids, static_cast<std::size_t>(row))),
              "an id that an earlier row unsubscribes", "each id once");
}

void refuse(ErrorKind kind, std::size_t row, const std::string& what, double got,
            const std::string& wanted) {
  throw Error(kind, "row " + std::to_string(row) + ": " + what, std::to_string(got), wanted);
}

void check_place(ErrorKind kind, const PlaceColumns& places, std::size_t row) {
  const auto check = [&](const char* name, double value, double limit) {
    if (std::fabs(value) <= limit) return;  // false for NaN
    refuse(kind, row, name, value,
           "a number from -" + std::to_string(int(limit)) + " to " + std::to_string(int(limit)));
  };
  check(places.are_points() ? "lon" : "west", places.west[row], 180);
  check(places.are_points() ? "lat" : "south", places.south[row], 90);
  if (places.are_points()) return;
  check("east", places.east[row], 180);
  check("north", places.north[row], 90);
  if (places.south[row] > places.north[row]) {
    refuse(kind, row, "south", places.south[row],
           "at most north, which is " + std::to_string(places.north[row]));
  }
}

void check_places(const MessageColumns& messages) {
  for (std::size_t row = 0; row < messages.rows; ++row) {
    check_place(ErrorKind::kInvalidMessage, messages.places, row);
  }
}

void check_keywords(const WordLists& keywords, std::size_t row, const char* hint_if_none) {
  const auto count = keywords.offsets[row + 1] - keywords.offsets[row];
  if (count > 0 && count <= static_cast<std::int64_t>(SubscriptionStore::kMaxTokens)) return;
  throw Error(ErrorKind::kInvalidSubscription, "row " + std::to_string(row) + ": keywords",
              std::to_string(count) + " keywords",
              "1 to " + std::to_string(SubscriptionStore::kMaxTokens),
              count == 0 ? hint_if_none : "");
}

void intern_row(const WordLists& lists, std::size_t row, Vocabulary& vocabulary,
                std::vector<Token>& tokens) {
  tokens.clear();
  const auto begin = static_cast<std::size_t>(lists.offsets[row]);
  const auto end = static_cast<std::size_t>(lists.offsets[row + 1]);
  if (const auto* coded = std::get_if<CodedColumn>(&lists.items)) {
    for (std::size_t i = begin; i < end; ++i) {
      tokens.push_back(Token{coded->tokens[static_cast<std::size_t>(coded->codes[i])]});
    }
  } else {
    const auto& words = std::get<WordColumn>(lists.items);
    for (std::size_t i = begin; i < end; ++i) tokens.push_back(vocabulary.intern(words[i]));
  }
  sort_unique(tokens);
}

KeywordRows::KeywordRows(const WordLists& lists, std::span<const std::uint8_t> lacks_keywords,
                         std::size_t rows, Vocabulary& vocabulary) {
  offsets_.reserve(rows + 1);
  std::vector<Token> own;
  for (std::size_t row = 0; row < rows; ++row) {
    if (!is_flagged(lacks_keywords, row)) {
      intern_row(lists, row, vocabulary, own);
      tokens_.insert(tokens_.end(), own.begin(), own.end());
    }
    offsets_.push_back(tokens_.size());
  }
}

void find_tokens(const Vocabulary& vocabulary, std::span<const std::string_view> words,
                 std::vector<Token>& tokens) {
  tokens.clear();
  vocabulary.find_all(words, tokens);
  sort_unique(tokens);
}

void read_words(const TextColumn& texts, std::size_t row, std::string& letters,
                std::vector<std::string_view>& words, std::vector<Token>& tokens) {
  words.clear();
  tokens.clear();
  const auto* lists = std::get_if<WordLists>(&texts);
  if (lists == nullptr) {
    split_words(std::get<WordColumn>(texts)[row], letters,
                [&](std::string_view word) { words.push_back(word); });
    return;
  }
  const auto begin = static_cast<std::size_t>(lists->offsets[row]);
  const auto end = static_cast<std::size_t>(lists->offsets[row + 1]);
  if (const auto* coded = std::get_if<CodedColumn>(&lists->items)) {
    for (std::size_t i = begin; i < end; ++i) {
      const Token token{coded->tokens[static_cast<std::size_t>(coded->codes[i])]};
      if (token != kUnknownToken) tokens.push_back(token);
    }
  } else {
    const auto& column = std::get<WordColumn>(lists->items);
    for (std::size_t i = begin; i < end; ++i) words.push_back(column[i]);
  }
}

void append_ids(const ExternalIds& ids, std::span<const SubscriptionId> slots, MatchColumns& out) {
  if (!out.has_words) {
    const std::size_t start = out.number.size();
    out.number.resize(start + slots.size());
    // Independent reads at random places: a plain loop lets many of them be under way at once.
    for (std::size_t i = 0; i < slots.size(); ++i)
      out.number[start + i] = ids.number(raw(slots[i]));
    return;
  }
  for (const SubscriptionId slot : slots) {
    out.word_bytes += ids.word(raw(slot));
    if (out.word_bytes.size() > 0x7FFFFFFF) {
      throw Error(ErrorKind::kInvalidParameter, "match: the ids of one batch",
                  "more than 2 GiB of text", "a smaller batch of messages");
    }
    out.word_offsets.push_back(static_cast<std::int32_t>(out.word_bytes.size()));
  }
}

void make_room(MatchColumns& out, std::size_t more, std::size_t done, std::size_t messages) {
  const std::size_t wanted = out.message.size() + more;
  if (wanted <= out.message.capacity()) return;
  const double all =
      static_cast<double>(wanted) * static_cast<double>(messages) / static_cast<double>(done);
  // A guess from few messages may be far off. Too much costs addresses, too little a copy of all.
  const double slack = done < 1024 ? 2 : 1.25;
  const std::size_t room = std::max(wanted * 3 / 2, static_cast<std::size_t>(slack * all) + 64);
  out.message.reserve(room);
  if (!out.has_words) out.number.reserve(room);
}

}  // namespace nearcast
