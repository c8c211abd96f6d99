#include "nearcast/columns/reading.h"

#include <cmath>

#include "nearcast/base/number_text.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/model/subscription_store.h"
#include "nearcast/text/splitter.h"

namespace nearcast {
namespace {

/// Calls visit(word) for each, while what the next ones need is on its way into the cache.
template <typename Visit>
void for_each_word(const WordColumn& words, const Vocabulary& vocabulary, Visit&& visit) {
  constexpr std::size_t kAhead = 8;  // words between one step and the next
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i + 2 * kAhead < words.size()) vocabulary.prefetch(words[i + 2 * kAhead], 0);
    if (i + kAhead < words.size()) vocabulary.prefetch(words[i + kAhead], 1);
    visit(words[i]);
  }
}

/// The words of lists in turn, as tokens with one use each.
class Interner {
 public:
  Interner(const WordLists& lists, Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        coded_(std::get_if<CodedColumn>(&lists.items)),
        words_(coded_ == nullptr ? &std::get<WordColumn>(lists.items) : nullptr) {
    if (coded_ != nullptr) tokens_.assign(coded_->dictionary.size(), kUnknownToken);
  }

  Token operator()(std::size_t item) {
    if (coded_ == nullptr) return vocabulary_.intern((*words_)[item]);
    const auto code = static_cast<std::size_t>(coded_->codes[item]);
    Token& token = tokens_[code];
    if (token == kUnknownToken) {
      token = vocabulary_.intern(coded_->dictionary[code]);
    } else {
      vocabulary_.hold(token);
    }
    return token;
  }

 private:
  Vocabulary& vocabulary_;
  const CodedColumn* coded_;
  const WordColumn* words_;
  std::vector<Token> tokens_;  ///< by code
};

}  // namespace

std::vector<Token> intern_words(const WordColumn& words, Vocabulary& vocabulary) {
  std::vector<Token> tokens;
  tokens.reserve(words.size());
  for_each_word(words, vocabulary,
                [&](std::string_view word) { tokens.push_back(vocabulary.intern(word)); });
  return tokens;
}

std::vector<std::uint32_t> find_words(const WordColumn& words, const Vocabulary& vocabulary) {
  std::vector<std::uint32_t> tokens;
  tokens.reserve(words.size());
  for_each_word(words, vocabulary,
                [&](std::string_view word) { tokens.push_back(raw(vocabulary.find(word))); });
  return tokens;
}

void EpochColumns::check() const { check_counts(documents, words, df); }

std::vector<TokenWeights::Count> EpochColumns::counts(std::span<const Token> tokens) const {
  std::vector<TokenWeights::Count> counts;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (df[i] != 0) counts.emplace_back(tokens[i], static_cast<std::uint64_t>(df[i]));
  }
  return counts;
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
    slots.push_back(SubscriptionId{known.require(id_at(ids, row))});
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
  throw Error(kind, "row " + std::to_string(row) + ": " + what, number_text(got), wanted);
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
           "at most north, which is " + number_text(places.north[row]));
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

KeywordRows::KeywordRows(const WordLists& lists, std::span<const std::uint8_t> lacks_keywords,
                         std::size_t rows, Vocabulary& vocabulary)
    : KeywordRows(vocabulary) {  // from here on the destructor runs, also after an error
  offsets_.reserve(rows + 1);
  Interner intern(lists, vocabulary);
  std::vector<Token> own;
  for (std::size_t row = 0; row < rows; ++row) {
    if (!is_flagged(lacks_keywords, row)) {
      own.clear();
      const auto end = static_cast<std::size_t>(lists.offsets[row + 1]);
      for (auto i = static_cast<std::size_t>(lists.offsets[row]); i < end; ++i)
        own.push_back(intern(i));
      vocabulary.keep_distinct(own);
      tokens_.insert(tokens_.end(), own.begin(), own.end());
    }
    offsets_.push_back(tokens_.size());
  }
}

MessageColumns up_to_date(MessageColumns messages, const Vocabulary& vocabulary,
                          std::vector<std::uint32_t>& tokens) {
  auto* lists = std::get_if<WordLists>(&messages.texts);
  auto* coded = lists == nullptr ? nullptr : std::get_if<CodedColumn>(&lists->items);
  if (coded == nullptr) return messages;
  if (coded->version != vocabulary.version() || coded->tokens.size() != coded->dictionary.size()) {
    check_words(ErrorKind::kInvalidMessage, "dictionary", coded->dictionary);
    tokens = find_words(coded->dictionary, vocabulary);
    coded->tokens = tokens;
  }
  return messages;
}

void read_words(const TextColumn& texts, std::size_t row, std::string& letters, std::size_t known,
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
      if (raw(token) < known) tokens.push_back(token);  // neither kUnknownToken nor nonsense
    }
  } else {
    const auto& column = std::get<WordColumn>(lists->items);
    for (std::size_t i = begin; i < end; ++i) words.push_back(column[i]);
  }
}

void read_all_words(const TextColumn& texts, std::size_t row, std::string& letters,
                    std::vector<std::string_view>& words) {
  words.clear();
  const auto* lists = std::get_if<WordLists>(&texts);
  const auto* coded = lists == nullptr ? nullptr : std::get_if<CodedColumn>(&lists->items);
  if (coded == nullptr) {
    std::vector<Token> none;
    read_words(texts, row, letters, 0, words, none);  // no codes: no tokens
    return;
  }
  const auto end = static_cast<std::size_t>(lists->offsets[row + 1]);
  for (auto i = static_cast<std::size_t>(lists->offsets[row]); i < end; ++i)
    words.push_back(coded->dictionary[static_cast<std::size_t>(coded->codes[i])]);
}

void read_attributes(const AttributeColumns& columns, std::size_t row,
                     std::vector<Attribute>& attributes) {
  attributes.clear();
  if (columns.empty()) return;
  const auto end = static_cast<std::size_t>(columns.offsets[row + 1]);
  for (auto i = static_cast<std::size_t>(columns.offsets[row]); i < end; ++i) {
    attributes.push_back({columns.names[i], static_cast<ValueKind>(columns.kinds[i]),
                          columns.numbers[i], columns.texts[i]});
  }
}

void append_ids(const ExternalIds& ids, std::span<const SubscriptionId> slots, MatchColumns& out) {
  if (!out.has_words) {
    const std::size_t start = out.number.size();
    out.number.resize(start + slots.size());
    // Independent reads at random places: a plain loop lets many of them be under way at once.
    for (std::size_t i = 0; i < slots.size(); ++i) out.number[start + i] = ids.whole(raw(slots[i]));
    return;
  }
  for (const SubscriptionId slot : slots) out.words.push_back(ids.word(raw(slot)));
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
