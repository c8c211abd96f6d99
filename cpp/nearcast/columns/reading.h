/// What matchers do with columns: check places, turn words into tokens, walk
/// through a batch of messages, write ids.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/base/ids.h"
#include "nearcast/columns/columns.h"
#include "nearcast/columns/stopwatch.h"
#include "nearcast/index/match_index.h"
#include "nearcast/model/external_ids.h"
#include "nearcast/model/message.h"
#include "nearcast/text/text_tokens.h"
#include "nearcast/text/token_weights.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

constexpr std::size_t kIdsAhead = 8;  ///< cells of the table are prefetched so many ids before

/// Gives the memory of a vector back if it is unusually large, so that one huge message does not
/// keep it for good. A usual amount is kept between calls.
template <typename Vector>
void trim(Vector& vector) {
  constexpr std::size_t kMostKept = 1 << 16;  // elements
  if (vector.capacity() > kMostKept) Vector().swap(vector);
}

/// Memory for reading messages, kept between batches.
struct ReadingScratch {
  static constexpr std::size_t kGroup = 8;  ///< messages whose waits for memory overlap

  std::array<std::vector<Token>, 2 * kGroup> tokens;  ///< of this group and of the next
  std::vector<std::string_view> words;
  std::string letters;
  std::vector<std::uint32_t> dictionary;  ///< tokens by code
  std::vector<Attribute> attributes;      ///< of the message at hand

  void trim() {
    for (std::vector<Token>& each : tokens) nearcast::trim(each);
    nearcast::trim(words);
    nearcast::trim(letters);
    nearcast::trim(dictionary);
    nearcast::trim(attributes);
  }
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

/// The tokens of many rows, each row's ascending and distinct; new words become known. Each token
/// of each row is one use of its word, which ends with these rows unless something keeps them.
class KeywordRows {
 public:
  KeywordRows(const WordLists& lists, std::span<const std::uint8_t> lacks_keywords,
              std::size_t rows, Vocabulary& vocabulary);
  ~KeywordRows() {
    if (!are_kept_) vocabulary_.release_all(tokens_);
  }
  KeywordRows(const KeywordRows&) = delete;
  KeywordRows& operator=(const KeywordRows&) = delete;

  void keep() { are_kept_ = true; }  ///< the uses are now the store's
  ClauseRows with(const PlaceColumns& areas) const {
    return {tokens_, offsets_, areas.west, areas.south, areas.east, areas.north};
  }

 private:
  explicit KeywordRows(Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  Vocabulary& vocabulary_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> offsets_{0};
  bool are_kept_ = false;
};

/// Looks the words of a dictionary up again if they were looked up in another vocabulary than the
/// one that is there now; `tokens` is the memory for it.
MessageColumns up_to_date(MessageColumns messages, const Vocabulary& vocabulary,
                          std::vector<std::uint32_t>& tokens);
/// All words of one message, also of those that came as codes.
void read_all_words(const TextColumn& texts, std::size_t row, std::string& letters,
                    std::vector<std::string_view>& words);

/// The attributes of one message.
void read_attributes(const AttributeColumns& columns, std::size_t row,
                     std::vector<Attribute>& attributes);

/// The rows in the order in which they are stored: the index's, if they are most of what there is.
template <typename Index>
std::vector<std::uint32_t> arrange(const Index& index, const ClauseRows& rows, std::size_t stored) {
  std::vector<std::uint32_t> order;
  if (rows.size() >= stored) order = index.arrange(rows);
  if (order.empty()) {
    order.resize(rows.size());
    std::iota(order.begin(), order.end(), 0u);
  }
  return order;
}

/// Stores rows in this order, with add(row), and binds their ids. Returns the slots by row. If it
/// throws, nothing has been added.
template <typename Add, typename Remove>
std::vector<SubscriptionId> add_rows(const IdColumn& ids, std::size_t rows, ExternalIds& known,
                                     std::span<const std::uint32_t> order, Add&& add,
                                     Remove&& remove) {
  // A few more than there are must not pay for moving all.
  if (rows > known.size() / 8) known.reserve(known.size() + rows);
  std::vector<SubscriptionId> slots(rows);
  std::size_t added = 0, row = 0;
  try {
    for (; added < rows; ++added) slots[order[added]] = add(order[added]);
    for (; row < rows; ++row) {
      if (row + kIdsAhead < rows) known.prefetch(id_at(ids, row + kIdsAhead));
      const ExternalId id = id_at(ids, row);
      known.check_new(id);
      known.bind(id, raw(slots[row]));
    }
  } catch (...) {
    while (row-- > 0) known.release(raw(slots[row]));
    while (added-- > 0) remove(slots[order[added]]);
    throw;
  }
  return slots;
}

/// The words of one message, or its tokens if they came as codes.
/// Tokens are below `known`, the vocabulary's slots(); others are left out.
void read_words(const TextColumn& texts, std::size_t row, std::string& letters, std::size_t known,
                std::vector<std::string_view>& words, std::vector<Token>& tokens);

/// Tokens of a dictionary's words, by position; new words become known, with one use for each
/// position, …
std::vector<Token> intern_words(const WordColumn& words, Vocabulary& vocabulary);
/// … or are kUnknownToken.
std::vector<std::uint32_t> find_words(const WordColumn& words, const Vocabulary& vocabulary);

/// A weights epoch as it is given: words, and how many of so many documents have each.
struct EpochColumns {
  std::uint64_t documents = 0;
  WordColumn words;
  std::span<const std::int64_t> df;

  void check() const;  ///< throws an error that names the word whose df is above the documents
  /// Of tokens by position; what has df 0 is left out: it weighs what an unknown word weighs.
  std::vector<TokenWeights::Count> counts(std::span<const Token> tokens) const;
};

void append_ids(const ExternalIds& ids, std::span<const SubscriptionId> slots, MatchColumns& out);

/// Room for `more` rows; what will come is guessed from the share of the messages that is done, for
/// growing by doubling would copy everything and touch twice the memory.
void make_room(MatchColumns& out, std::size_t more, std::size_t done, std::size_t messages);

/// Calls visit(row, group) for each few messages of a batch. While one group is matched, the next
/// has been read, and what it begins with is on its way into the cache: prefetch(row, message),
/// which may also give the message further tokens.
template <std::size_t kGroup = ReadingScratch::kGroup, typename Prefetch, typename Visit>
void for_each_group(const MessageColumns& messages, const Vocabulary& vocabulary, bool is_timed,
                    ReadingScratch& scratch, MatchColumns& out, Prefetch&& prefetch,
                    Visit&& visit) {
  static_assert(kGroup <= ReadingScratch::kGroup);
  std::array<Message, 2 * kGroup> near;
  const auto approach = [&](std::size_t first) {
    for (std::size_t row = first; row < std::min(first + kGroup, messages.rows); ++row) {
      std::vector<Token>& tokens = scratch.tokens[row % near.size()];
      read_words(messages.texts, row, scratch.letters, vocabulary.slots(), scratch.words, tokens);
      vocabulary.find_all(scratch.words, tokens);
      sort_unique(tokens);
      near[row % near.size()] = {tokens, messages.places[row]};
      prefetch(row, near[row % near.size()]);
    }
  };
  Stopwatch watch;
  if (is_timed) out.nanoseconds.reserve(messages.rows);
  approach(0);
  for (std::size_t row = 0; row < messages.rows; row += kGroup) {
    approach(row + kGroup);
    const std::size_t count = std::min(kGroup, messages.rows - row);
    visit(row, std::span<const Message>(&near[row % near.size()], count));
    if (is_timed) watch.lap(out.nanoseconds, count);
  }
  out.cpu_seconds = watch.cpu_seconds();
  watch.finish(out.nanoseconds);
}

}  // namespace nearcast
