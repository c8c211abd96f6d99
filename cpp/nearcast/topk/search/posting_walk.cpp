/// One search of PostingSearch.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "nearcast/geo/float_box.h"
#include "nearcast/topk/search/posting_search.h"

namespace nearcast {

using top_postings::Columns;
using top_postings::first_weight;
using top_postings::kChunk;
using top_postings::kGap;
using top_postings::kWeightScale;
using top_postings::second_weight;

namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();
constexpr float kRounding = 4e-6f;  ///< of a handful of operations on numbers around 1

}  // namespace

void PostingSearch::best(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
                         WorkCounters& work) {
  start_query(id);
  level_ = floor == kLowestUnits ? kNothing : round_down((floor - 1) * 1e-9);
  const auto frequent =
      static_cast<std::size_t>(std::find_if(terms_.begin(), terms_.end(),
                                            [](const Term& term) { return term.is_frequent; }) -
                               terms_.begin());
  for (std::size_t term = frequent; term < terms_.size(); ++term) {
    for (std::size_t other = term + 1; other < terms_.size(); ++other)
      scan_pair(term, other, count, work);
  }
  // Long lists first: after them, most undecided messages of short lists are below the level.
  for (std::size_t term = terms_.size(); term-- > 0;) scan_token(term, count, work);
  raise_level(count);
  score_candidates(id, floor, out, work);
  const std::size_t wanted = std::min(count, out.size());
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(wanted), out.end(),
                    [&](const Held& a, const Held& b) { return is_better(a, b); });
  out.resize(wanted);
}

void PostingSearch::start_query(SubscriptionId id) {
  const TopSubscriptions::Record& record = state_.subscriptions[id];
  candidates_.clear();
  in_pairs_.clear();
  const double near = record.alpha / state_.max_distance;
  // A message is within half a diagonal of the middle of its cell.
  const double blur = near * frame_.cell_diagonal() * 0.55;
  query_.at = frame_.point(record.at);
  query_.near_x = static_cast<float>(near * frame_.cell_width());
  query_.near_y = static_cast<float>(near * frame_.cell_height());
  query_.base = static_cast<float>(record.alpha + blur) + kRounding;
  slack_ = static_cast<float>(2 * blur + (1 - record.alpha) / kWeightScale) + 2 * kRounding;
  // A distance to a point outside the frame is only a bound.
  if (!frame_.is_inside(record.at)) slack_ = -kNothing;
  collect_terms(id);
}

void PostingSearch::collect_terms(SubscriptionId id) {
  const TopSubscriptions::Record& record = state_.subscriptions[id];
  terms_.clear();
  for (const Token token : state_.subscriptions.tokens(id)) {
    const std::uint32_t size = lists_.size(raw(token));
    if (size == 0) continue;
    const double idf = (*state_.weights)[token];
    const double text = (1 - record.alpha) * idf / record.length;
    terms_.push_back({token, static_cast<float>(text), static_cast<float>(idf), size,
                      Fingerprints::print_of(token), is_frequent(token)});
  }
  std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) {
    return a.is_frequent != b.is_frequent ? b.is_frequent : a.list_size < b.list_size;
  });
}

/// What the terms behind `after` add if the message has them all, per unit of `term`'s weight.
float PostingSearch::rest_of(std::size_t term, std::size_t after) const {
  float sum = 0, squares = 0;
  for (std::size_t later = after + 1; later < terms_.size(); ++later) {
    sum += terms_[later].text * terms_[later].idf;
    squares += terms_[later].text * terms_[later].text;
  }
  // A weight beyond 1 counts as 1: then they add what they add to any unit vector.
  return std::max(sum / terms_[term].idf, std::sqrt(squares));
}

template <typename Consider>
void PostingSearch::scan(const top_postings::PostingLists& lists, std::size_t key,
                         std::size_t count, Consider&& consider) {
  const auto kernel = lists.has_room_for_groups(key) ? scan_ : top_postings::plain_scan();
  const std::size_t many = 2 * count + 64;
  lists.for_each_chunk(
      key, [&](const Columns& columns, const MessageId* messages, std::uint32_t size) {
        std::uint16_t hits[kChunk];
        const std::uint32_t found = kernel(columns, size, query_, level_, hits);
        for (std::uint32_t i = 0; i < found; ++i) {
          const std::uint16_t at = hits[i];
          const bool is_doubtful = second_weight(columns.weights[at]) > 0 && query_.second > 0;
          if (is_doubtful && messages[at] != kGap) prints_.prefetch(messages[at]);
        }
        for (std::uint32_t i = 0; i < found; ++i) {
          const std::uint16_t at = hits[i];
          if (messages[at] != kGap) consider(columns.cells[at], columns.weights[at], messages[at]);
        }
        if (candidates_.size() >= many) raise_level(count);
      });
}

float PostingSearch::bound(PackedCell cell, float text) const {
  const float x = (static_cast<float>(cell & 0xFFFF) - query_.at.x) * query_.near_x;
  const float y = (static_cast<float>(cell >> 16) - query_.at.y) * query_.near_y;
  return query_.base + text - std::sqrt(x * x + y * y);
}

/// What the terms behind `after` that the message may have add, if a term of this idf weighs at
/// most `weight`.
float PostingSearch::rest_in(MessageId message, std::size_t after, float weight, float idf,
                             bool& may_repeat) const {
  float sum = 0, squares = 0;
  for (std::size_t later = after + 1; later < terms_.size(); ++later) {
    if (!prints_.may_have(message, terms_[later].print)) continue;
    may_repeat = true;
    sum += terms_[later].text * terms_[later].idf;
    squares += terms_[later].text * terms_[later].text;
  }
  return weight < 0.9999f ? sum * weight / idf : std::sqrt(squares);
}

void PostingSearch::scan_token(std::size_t term, std::size_t count, WorkCounters& work) {
  ++work.nodes_visited;
  query_.first = terms_[term].text;
  query_.second = rest_of(term, term);
  scan(lists_, raw(terms_[term].token), count,
       [&](PackedCell cell, std::uint32_t weights, MessageId message) {
         const float alone = bound(cell, query_.first * first_weight(weights));
         float rest = 0;
         bool may_repeat = false;
         if (const float most = second_weight(weights); most > 0)
           rest = rest_in(message, term, most, terms_[term].idf, may_repeat);
         if (alone + rest < level_) return;
         // In the list of a rare token the message is found with more tokens than before.
         if (terms_[term].is_frequent && in_pairs_.has(message)) return;
         const bool is_sure = !may_repeat && PlanarFrame::is_inside(cell);
         candidates_.push_back({alone + rest, is_sure ? alone - slack_ : kNothing, message});
       });
}

void PostingSearch::scan_pair(std::size_t term, std::size_t other, std::size_t count,
                              WorkCounters& work) {
  const bool is_smaller = terms_[term].token < terms_[other].token;
  const std::size_t small = is_smaller ? term : other, large = is_smaller ? other : term;
  const std::uint32_t pair = pairs_.find(terms_[small].token, terms_[large].token);
  if (pair == TokenPairs::kNone) return;
  ++work.nodes_visited;
  query_.first = terms_[small].text + rest_of(small, other);
  query_.second = terms_[large].text;
  scan(pair_lists_, pair, count, [&](PackedCell cell, std::uint32_t weights, MessageId message) {
    const float both = bound(cell, terms_[small].text * first_weight(weights) +
                                       terms_[large].text * second_weight(weights));
    bool may_repeat = false;
    const float rest =
        rest_in(message, other, first_weight(weights), terms_[small].idf, may_repeat);
    if (both + rest < level_ || !in_pairs_.insert(message)) return;
    // Each message is here once, so a pair without a third token certainly counts as one message.
    const bool is_sure = !may_repeat && PlanarFrame::is_inside(cell);
    candidates_.push_back({both + rest, is_sure ? both - slack_ : kNothing, message});
  });
}

/// As soon as `count` different messages certainly reach some level, those below it are dropped.
void PostingSearch::raise_level(std::size_t count) {
  if (count == 0 || candidates_.size() <= count) return;
  lows_.clear();
  for (const Candidate& candidate : candidates_) {
    if (candidate.low > kNothing) lows_.push_back(candidate.low);
  }
  if (lows_.size() < count) return;
  const auto last = lows_.begin() + static_cast<std::ptrdiff_t>(count) - 1;
  std::nth_element(lows_.begin(), last, lows_.end(), std::greater<>());
  level_ = std::max(level_, *last);
  std::erase_if(candidates_, [&](const Candidate& candidate) { return candidate.bound < level_; });
}

void PostingSearch::score_candidates(SubscriptionId id, Units floor, std::vector<Held>& out,
                                     WorkCounters& work) {
  // A message with several common tokens may be here several times.
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return a.message < b.message; });
  const auto last =
      std::unique(candidates_.begin(), candidates_.end(),
                  [](const Candidate& a, const Candidate& b) { return a.message == b.message; });
  candidates_.erase(last, candidates_.end());
  work.candidates += candidates_.size();
  for (const Candidate& candidate : candidates_) {
    state_.prefetch(candidate.message, 0);
  }
  for (const Candidate& candidate : candidates_) state_.prefetch(candidate.message, 1);
  for (const Candidate& candidate : candidates_) {
    const Units units = units_of(state_.score(id, candidate.message));
    if (units >= floor) out.push_back({units, candidate.message});
  }
}

}  // namespace nearcast
