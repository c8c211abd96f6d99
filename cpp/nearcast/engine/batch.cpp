/// The two loops over a batch: subscriptions in, messages through.
#include <time.h>

#include <chrono>
#include <cmath>
#include <mutex>

#include "nearcast/base/errors.h"
#include "nearcast/engine/engine.h"
#include "nearcast/model/semantics.h"
#include "nearcast/text/splitter.h"

namespace nearcast {
namespace {

double thread_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool is_flagged(std::span<const std::uint8_t> flags, std::size_t row) {
  return !flags.empty() && flags[row] != 0;
}

/// Calls visit(token) for each word of one list; words that come as text go through `token_of`.
template <typename TokenOf, typename Visit>
void for_each_token(const WordLists& lists, std::size_t row, TokenOf&& token_of, Visit&& visit) {
  const auto begin = static_cast<std::size_t>(lists.offsets[row]);
  const auto end = static_cast<std::size_t>(lists.offsets[row + 1]);
  if (const auto* coded = std::get_if<CodedColumn>(&lists.items)) {
    for (std::size_t i = begin; i < end; ++i) {
      visit(Token{coded->tokens[static_cast<std::size_t>(coded->codes[i])]});
    }
  } else {
    const auto& words = std::get<WordColumn>(lists.items);
    for (std::size_t i = begin; i < end; ++i) visit(token_of(words[i]));
  }
}

[[noreturn]] void refuse(ErrorKind kind, std::size_t row, const std::string& what, double got,
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

/// The words of one message, or its tokens if they came as codes.
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

/// Times the messages of a batch one by one, by the cheapest clock there is: on x86 the counter of
/// the processor, scaled by the steady clock over the whole batch.
class Stopwatch {
 public:
  void lap(std::vector<std::int64_t>& laps) {
    const std::uint64_t now = ticks();
    laps.push_back(static_cast<std::int64_t>(now - last_));
    last_ = now;
  }
  /// Turns laps into nanoseconds.
  void finish(std::vector<std::int64_t>& laps) const {
    const auto elapsed =
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - started_).count();
    const auto counted = static_cast<double>(ticks() - first_);
    const double scale = counted > 0 ? static_cast<double>(elapsed) / counted : 1;
    for (std::int64_t& lap : laps)
      lap = static_cast<std::int64_t>(static_cast<double>(lap) * scale);
  }

 private:
  static std::uint64_t ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }

  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::uint64_t first_ = ticks(), last_ = first_;
};

}  // namespace

void Engine::check_rows(const SubscriptionColumns& rows) const {
  for (std::size_t row = 0; row < rows.rows; ++row) {
    const bool lacks_keywords = is_flagged(rows.lacks_keywords, row);
    const bool lacks_area = is_flagged(rows.lacks_area, row);
    if (lacks_keywords && lacks_area) {
      throw Error(ErrorKind::kInvalidSubscription, "row " + std::to_string(row),
                  "neither keywords nor an area", "at least one of the two");
    }
    if (!lacks_area) check_place(ErrorKind::kInvalidSubscription, rows.areas, row);
    if (lacks_keywords) continue;
    const auto count = rows.keywords.offsets[row + 1] - rows.keywords.offsets[row];
    if (count <= 0 || count > static_cast<std::int64_t>(SubscriptionStore::kMaxTokens)) {
      throw Error(ErrorKind::kInvalidSubscription, "row " + std::to_string(row) + ": keywords",
                  std::to_string(count) + " keywords",
                  "1 to " + std::to_string(SubscriptionStore::kMaxTokens),
                  count == 0 ? "null, not an empty list, says that the area alone decides" : "");
    }
  }
}

SubscriptionId Engine::add_row(const SubscriptionColumns& rows, std::size_t row,
                               std::vector<Token>& tokens) {
  tokens.clear();
  if (!is_flagged(rows.lacks_keywords, row)) {
    for_each_token(
        rows.keywords, row, [&](std::string_view word) { return vocabulary_.intern(word); },
        [&](Token token) { tokens.push_back(token); });
    sort_unique(tokens);
  }
  const Clause clause{tokens, {}};
  const Area area = is_flagged(rows.lacks_area, row)
                        ? Area(Anywhere{})
                        : Area(Rect{rows.areas.west[row], rows.areas.south[row],
                                    rows.areas.east[row], rows.areas.north[row]});
  return store_.add({{&clause, 1}, &area});
}

void Engine::subscribe(const SubscriptionColumns& rows) {
  const std::unique_lock lock(mutex_);
  check_rows(rows);
  ids_.reserve(ids_.size() + rows.rows);
  std::vector<SubscriptionId> added;
  added.reserve(rows.rows);
  std::vector<Token> tokens;
  try {
    for (std::size_t row = 0; row < rows.rows; ++row) {
      const ExternalId id =
          std::visit([&](const auto& ids) { return ExternalId(ids[row]); }, rows.ids);
      ids_.check_kind(id);
      check_new(id);
      added.push_back(add_row(rows, row, tokens));
      ids_.bind(id, raw(added.back()));
    }
  } catch (...) {
    for (const SubscriptionId slot : added) {
      ids_.release(raw(slot));
      store_.remove(slot);
    }
    throw;
  }
  index_->build(added);
}

void Engine::run(const Message& message, BatchScratch& scratch) const {
  scratch.sink.clear();
  scratch.match.visited.start(store_.slots());
  index_->match(message, scratch.match, scratch.sink);
}

void Engine::find_tokens(std::span<const std::string_view> words,
                         std::vector<Token>& tokens) const {
  tokens.clear();
  vocabulary_.find_all(words, tokens);
  sort_unique(tokens);
}

void Engine::append_ids(std::span<const SubscriptionId> ids, MatchColumns& out) const {
  if (!out.has_words) {
    const std::size_t start = out.number.size();
    out.number.resize(start + ids.size());
    // Independent reads at random places: a plain loop lets many of them be under way at once.
    for (std::size_t i = 0; i < ids.size(); ++i) out.number[start + i] = ids_.number(raw(ids[i]));
    return;
  }
  for (const SubscriptionId id : ids) {
    out.word_bytes += ids_.word(raw(id));
    if (out.word_bytes.size() > 0x7FFFFFFF) {
      throw Error(ErrorKind::kInvalidParameter, "match: the ids of one batch",
                  "more than 2 GiB of text", "a smaller batch of messages");
    }
    out.word_offsets.push_back(static_cast<std::int32_t>(out.word_bytes.size()));
  }
}

/// Calls visit(row, message) for each message of a batch. A message is read two before its turn,
/// and what it will need is asked for meanwhile.
template <typename Visit>
void Engine::for_each_message(const MessageColumns& messages, bool is_timed, BatchScratch& scratch,
                              MatchColumns& out, Visit&& visit) const {
  const auto message_of = [&](std::size_t row) {
    return Message{scratch.tokens[row % scratch.tokens.size()], messages.places[row]};
  };
  const auto approach = [&](std::size_t row) {
    if (row >= messages.rows) return;
    std::vector<Token>& tokens = scratch.tokens[row % scratch.tokens.size()];
    read_words(messages.texts, row, scratch.letters, scratch.words, tokens);
    vocabulary_.find_all(scratch.words, tokens);
    sort_unique(tokens);
    index_->prefetch(message_of(row), 0);
  };
  const double cpu_start = thread_cpu_seconds();
  Stopwatch watch;
  if (is_timed) out.nanoseconds.reserve(messages.rows);
  approach(0);
  approach(1);
  for (std::size_t row = 0; row < messages.rows; ++row) {
    approach(row + 2);
    if (row + 1 < messages.rows) index_->prefetch(message_of(row + 1), 1);
    visit(row, message_of(row));
    if (is_timed) watch.lap(out.nanoseconds);
  }
  out.cpu_seconds = thread_cpu_seconds() - cpu_start;
  watch.finish(out.nanoseconds);
}

MatchColumns Engine::match(const MessageColumns& messages, bool is_timed) const {
  for (std::size_t row = 0; row < messages.rows; ++row) {
    check_place(ErrorKind::kInvalidMessage, messages.places, row);
  }
  const std::shared_lock lock(mutex_);
  ScratchPool::Loan loan(scratches_);
  BatchScratch& scratch = *loan;
  scratch.sink.work = {};
  MatchColumns out;
  out.has_words = ids_.has_words();
  for_each_message(messages, is_timed, scratch, out, [&](std::size_t row, const Message& message) {
    run(message, scratch);
    append_ids(scratch.sink.ids(), out);
    out.message.insert(out.message.end(), scratch.sink.ids().size(),
                       static_cast<std::int64_t>(row));
  });
  out.work = scratch.sink.work;
  return out;
}

MatchColumns Engine::floor(const MessageColumns& messages, std::span<const std::int64_t> ends,
                           std::span<const std::int64_t> answers) const {
  const std::shared_lock lock(mutex_);
  ScratchPool::Loan loan(scratches_);
  MatchColumns out;
  for_each_message(messages, true, *loan, out, [&](std::size_t row, const Message& message) {
    out.work.nodes_visited += index_->touch(message);
    const auto first = static_cast<std::size_t>(row == 0 ? 0 : ends[row - 1]);
    const auto own = answers.subspan(first, static_cast<std::size_t>(ends[row]) - first);
    out.number.insert(out.number.end(), own.begin(), own.end());
    out.message.insert(out.message.end(), own.size(), static_cast<std::int64_t>(row));
  });
  out.work.matches = out.number.size();
  return out;
}

MatchColumns Engine::match_one(std::span<const std::string_view> words, const Place& place) const {
  const std::shared_lock lock(mutex_);
  ScratchPool::Loan loan(scratches_);
  BatchScratch& scratch = *loan;
  scratch.sink.work = {};
  find_tokens(words, scratch.tokens[0]);
  run({scratch.tokens[0], place}, scratch);
  MatchColumns out;
  out.has_words = ids_.has_words();
  append_ids(scratch.sink.ids(), out);
  out.work = scratch.sink.work;
  return out;
}

bool Engine::matches_pair(const ExternalId& id, std::span<const std::string_view> words,
                          const Place& place) const {
  const std::shared_lock lock(mutex_);
  std::vector<Token> tokens;
  find_tokens(words, tokens);
  return matches(store_, slot_of(id), {tokens, place});
}

void Engine::learn(const MessageColumns& messages) {
  for (std::size_t row = 0; row < messages.rows; ++row) {
    check_place(ErrorKind::kInvalidMessage, messages.places, row);
  }
  const std::unique_lock lock(mutex_);
  MessageSample sample;
  sample.offsets.push_back(0);
  std::string letters;
  std::vector<std::string_view> words;
  std::vector<Token> tokens;
  for (std::size_t row = 0; row < messages.rows; ++row) {
    // Words are made known: the subscriptions that will need them may come later.
    read_words(messages.texts, row, letters, words, tokens);
    for (const std::string_view word : words) tokens.push_back(vocabulary_.intern(word));
    sort_unique(tokens);
    sample.tokens.insert(sample.tokens.end(), tokens.begin(), tokens.end());
    sample.offsets.push_back(sample.tokens.size());
    sample.places.push_back(messages.places[row]);
  }
  index_->learn(sample);
}

}  // namespace nearcast
