/// The two loops over a batch of a set of match subscriptions: subscriptions in, messages through.
#include <algorithm>
#include <optional>

#include "nearcast/base/errors.h"
#include "nearcast/columns/area_rows.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/columns/reading.h"
#include "nearcast/index/registry.h"
#include "nearcast/index/touchable.h"
#include "nearcast/modes/match_set.h"

namespace nearcast {

void MatchSet::check_rows(const SubscriptionColumns& rows) const {
  for (std::size_t row = 0; row < rows.rows; ++row) {
    const bool lacks_keywords = is_flagged(rows.lacks_keywords, row);
    const bool lacks_area = is_flagged(rows.lacks_area, row);
    if (lacks_keywords && lacks_area) {
      throw Error(ErrorKind::kInvalidSubscription, "row " + std::to_string(row),
                  "neither keywords nor an area", "at least one of the two");
    }
    if (!lacks_area) check_place(ErrorKind::kInvalidSubscription, rows.areas, row);
    if (lacks_keywords) continue;
    check_keywords(rows.keywords, row, "null, not an empty list, says that the area alone decides");
  }
}

SubscriptionId MatchSet::add_row(const SubscriptionColumns& rows, std::size_t row,
                                 TokenSpan tokens) {
  const Clause clause{tokens, {}};
  const auto read = [&]() -> Area {
    if (is_flagged(rows.lacks_area, row)) return Anywhere{};
    if (rows.shapes != nullptr) return rows.shapes->at(row);
    return Rect{rows.areas.west[row], rows.areas.south[row], rows.areas.east[row],
                rows.areas.north[row]};
  };
  const Area area = read();
  return store_.add({{&clause, 1}, &area});
}

void MatchSet::add(const SubscriptionColumns& given, ExternalIds& ids) {
  check_columns(given);
  SubscriptionColumns rows = given;
  std::optional<RowBounds> bounds;  // all shapes are read once before the first one is added
  if (given.shapes != nullptr) {
    bounds.emplace(*given.shapes, given.lacks_area);
    rows.areas = bounds->view();
  }
  check_rows(rows);
  KeywordRows keywords(rows.keywords, rows.lacks_keywords, rows.rows, words_);
  const ClauseRows clauses = keywords.with(rows.areas);
  const std::vector<SubscriptionId> slots = add_rows(
      rows.ids, rows.rows, ids, arrange(*index_, clauses, store_.size()),
      [&](std::size_t row) { return add_row(rows, row, clauses.tokens_of(row)); },
      [&](SubscriptionId slot) { store_.remove(slot); });
  keywords.keep();
  index_->build(slots);
}

namespace {

/// The words of wishes, wanted or not: enough to tell which rows belong together. They are held, so
/// that a plan knows how frequent each is among all rows.
class WishWords {
 public:
  WishWords(const WishRows& rows, Vocabulary& words) : words_(words) {
    offsets_.push_back(0);
    std::vector<Token> own;
    for (std::size_t row = 0; row < rows.rows; ++row) {
      const Wish wish = rows.wish(row);
      own.clear();
      for (const std::string_view word : wish.plain) own.push_back(words.intern(word));
      if (wish.keywords != nullptr) {
        for (const ExpressionNode& node : wish.keywords->nodes) {
          if (node.op != ExpressionOp::kWords) continue;
          for (const std::string_view word : node.words) own.push_back(words.intern(word));
        }
      }
      words.keep_distinct(own);
      tokens_.insert(tokens_.end(), own.begin(), own.end());
      offsets_.push_back(tokens_.size());
    }
  }
  ~WishWords() { words_.release_all(tokens_); }
  WishWords(const WishWords&) = delete;
  WishWords& operator=(const WishWords&) = delete;

  ClauseRows with(const PlaceColumns& areas) const {
    return {tokens_, offsets_, areas.west, areas.south, areas.east, areas.north};
  }

 private:
  Vocabulary& words_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> offsets_;
};

}  // namespace

void MatchSet::add(const WishRows& rows, ExternalIds& ids) {
  const WishWords words(rows, words_);
  const std::vector<SubscriptionId> slots = add_rows(
      rows.ids, rows.rows, ids, arrange(*index_, words.with(rows.areas), store_.size()),
      [&](std::size_t row) { return store(rows.wish(row), rows.area(row), nullptr); },
      [&](SubscriptionId slot) { forget(slot); });
  index_->build(slots);
}

/// Calls visit(row, group) for each few messages of a batch.
template <typename Visit>
void MatchSet::visit_groups(const MessageColumns& messages, bool is_timed, BatchScratch& scratch,
                            MatchColumns& out, Visit&& visit) const {
  for_each_group(
      messages, words_, is_timed, scratch.reading, out,
      [&](std::size_t row, Message& message) {
        if (!is_plain()) derive(messages, row, scratch, message);
        index_->prefetch(message);
      },
      visit);
}

/// Gives a message the terms that follow from what it says. Its words are still in the scratch,
/// unless they came as codes.
void MatchSet::derive(const MessageColumns& messages, std::size_t row, BatchScratch& scratch,
                      Message& message) const {
  ReadingScratch& reading = scratch.reading;
  const auto* lists = std::get_if<WordLists>(&messages.texts);
  if (lists != nullptr && std::holds_alternative<CodedColumn>(lists->items) &&
      (terms_.has_phrases() || terms_.has_prefixes()))
    read_all_words(messages.texts, row, reading.letters, reading.words);
  read_attributes(messages.attributes, row, reading.attributes);
  const Saying saying{reading.words, reading.attributes};
  message.said = {&saying, nullptr};
  FactReader& reader = scratch.near_facts[row % scratch.near_facts.size()];
  const Facts& facts = reader.read(message, words_, terms_);
  message.tokens = facts.tokens;
  message.numbers = facts.numbers;
  message.said = {};
}

MatchColumns MatchSet::answer(const MessageColumns& given, const ExternalIds& ids,
                              bool is_timed) const {
  check_columns(given);
  ScratchPool<BatchScratch>::Loan loan(scratches_);
  BatchScratch& scratch = *loan;
  const MessageColumns messages = up_to_date(given, words_, scratch.reading.dictionary);
  const auto* lists = std::get_if<WordLists>(&messages.texts);
  if (!is_plain() && lists != nullptr) check_dictionary(ErrorKind::kInvalidMessage, *lists);
  MatchSink& sink = scratch.sink;
  sink.work = {};
  MatchColumns out;
  out.has_words = ids.has_words();
  const auto visit = [&](std::size_t row, std::span<const Message> group) {
    sink.clear();
    index_->match_group(group, scratch.match, sink);
    retain(scratch, [&](std::size_t i) -> const Facts& {
      return scratch.near_facts[(row + i) % scratch.near_facts.size()].facts();
    });
    make_room(out, sink.ids().size(), row + group.size(), messages.rows);
    append_ids(ids, sink.ids(), out);
    std::size_t start = 0;
    for (const std::size_t end : sink.ends()) {
      out.message.insert(out.message.end(), end - start, static_cast<std::int64_t>(row++));
      start = end;
    }
  };
  visit_groups(messages, is_timed, scratch, out, visit);
  out.work = sink.work;
  return out;
}

MatchColumns MatchSet::floor(const MessageColumns& given, std::span<const std::int64_t> ends,
                             std::span<const std::int64_t> answers) const {
  check_columns(given);
  check_answers(given.rows, ends, answers.size());
  ScratchPool<BatchScratch>::Loan loan(scratches_);
  const MessageColumns messages = up_to_date(given, words_, (*loan).reading.dictionary);
  const auto* index = dynamic_cast<const Touchable*>(index_.get());
  MatchColumns out;
  const auto visit = [&](std::size_t row, std::span<const Message> group) {
    if (index != nullptr) out.work.nodes_visited += index->touch(group);
    const std::size_t last = row + group.size();
    const auto first = static_cast<std::size_t>(row == 0 ? 0 : ends[row - 1]);
    make_room(out, static_cast<std::size_t>(ends[last - 1]) - first, last, messages.rows);
    for (std::size_t from = first; row < last; ++row) {
      const auto end = static_cast<std::size_t>(ends[row]);
      const auto own = answers.subspan(from, end - from);
      out.number.insert(out.number.end(), own.begin(), own.end());
      out.message.insert(out.message.end(), own.size(), static_cast<std::int64_t>(row));
      from = end;
    }
  };
  visit_groups(messages, true, *loan, out, visit);
  out.work.matches = out.number.size();
  return out;
}

MatchColumns MatchSet::answer_one(const Saying& saying, const Place& place,
                                  const ExternalIds& ids) const {
  ScratchPool<BatchScratch>::Loan loan(scratches_);
  BatchScratch& scratch = *loan;
  scratch.sink.work = {};
  std::vector<Token>& tokens = scratch.reading.tokens[0];
  find_tokens(words_, saying.words, tokens);
  match({tokens, place, {&saying, nullptr}}, scratch);
  MatchColumns out;
  out.has_words = ids.has_words();
  append_ids(ids, scratch.sink.ids(), out);
  out.work = scratch.sink.work;
  return out;
}

void MatchSet::learn(const MessageColumns& messages) {
  check_columns(messages);
  if (const auto* lists = std::get_if<WordLists>(&messages.texts))
    check_dictionary(ErrorKind::kInvalidMessage, *lists);
  MessageSample sample;
  sample.offsets.push_back(0);
  std::string letters;
  std::vector<std::string_view> words;
  std::vector<Token> tokens;
  for (std::size_t row = 0; row < messages.rows; ++row) {
    // Words are made known: the subscriptions that will need them may come later.
    read_all_words(messages.texts, row, letters, words);
    tokens.clear();
    for (const std::string_view word : words) tokens.push_back(words_.intern(word));
    words_.keep_distinct(tokens);
    sample.tokens.insert(sample.tokens.end(), tokens.begin(), tokens.end());
    sample.offsets.push_back(sample.tokens.size());
    sample.places.push_back(messages.places[row]);
  }
  index_->learn(sample);
  std::vector<Token> heard(sample.tokens.begin(), sample.tokens.end());
  words_.keep_distinct(heard);
  words_.release_all(learned_.view());
  learned_.clear();
  for (const Token token : heard) learned_.push_back(token);
  const auto& can = index_kind(index_name_).capabilities;
  if (std::find(can.begin(), can.end(), "learns") != can.end()) sample_ = std::move(sample);
}

}  // namespace nearcast
