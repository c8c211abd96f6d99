#include "nearcast/engine/top_stream.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "nearcast/base/number_text.h"
#include "nearcast/columns/change_columns.h"
#include "nearcast/columns/column_checks.h"

namespace nearcast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSubscribedAtOnce = 16384;  ///< in one event, whose changes are all kept

std::int64_t nanoseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

/// Tables by token grow to the largest one, so a stray number must not make them huge.
constexpr std::uint32_t kMaxToken = (1u << 26) - 1;

[[noreturn]] void refuse_value(const std::string& what, const std::string& got,
                               const std::string& wanted) {
  throw Error(ErrorKind::kInvalidParameter, "top stream: " + what, got, wanted);
}

void check_row_count(const char* name, std::size_t size, std::size_t rows) {
  if (size != rows)
    refuse_value(name, std::to_string(size) + " rows", std::to_string(rows) + ", as of lon");
}

void check_points(const TokenPoints& rows) {
  check_row_count("lat", rows.lat.size(), rows.rows());
  check_row_count("offsets after the first", rows.offsets.size() - !rows.offsets.empty(),
                  rows.rows());
  check_offsets(ErrorKind::kInvalidParameter, "tokens", rows.offsets, rows.tokens.size());
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    if (std::fabs(rows.lon[row]) <= 180 && std::fabs(rows.lat[row]) <= 90) continue;  // NaN: false
    refuse_value("place of row " + std::to_string(row),
                 number_text(rows.lon[row]) + ", " + number_text(rows.lat[row]),
                 "longitude and latitude");
  }
  for (const std::uint32_t token : rows.tokens) {
    if (token > kMaxToken)
      refuse_value("token", std::to_string(token), "at most " + std::to_string(kMaxToken));
  }
}

void check_subscriptions(const TopRows& rows) {
  check_points(rows.wanted);
  check_row_count("alpha", rows.alpha.size(), rows.wanted.rows());
  if (rows.k < 1 || rows.k > kMaxK)
    refuse_value("k", std::to_string(rows.k), "from 1 to " + std::to_string(kMaxK));
  for (std::size_t row = 0; row < rows.wanted.rows(); ++row) {
    const std::string who = " of row " + std::to_string(row);
    if (!(rows.alpha[row] >= 0 && rows.alpha[row] <= 1))
      refuse_value("alpha" + who, number_text(rows.alpha[row]), "a number from 0 to 1");
    if (rows.wanted.offsets[row] == rows.wanted.offsets[row + 1])
      refuse_value("tokens" + who, "none", "at least one");
  }
}

}  // namespace

TopStream::TopStream(std::size_t window, const Rect& space, const std::string& arrival,
                     const std::string& expiry, const TopTuning& tuning)
    : window_(window),
      max_distance_(distance_between({space.west, space.south}, {space.east, space.north})),
      engine_(std::make_unique<TopEngine>(messages_, weights_, space, arrival, expiry, tuning)),
      expiry_(expiry) {
  if (window == 0) refuse_value("window", "0", "at least 1 message");
}

void TopStream::start_epoch(std::uint64_t documents, std::span<const std::int64_t> df) {
  if (subscriptions_ != 0 || !live_.empty())
    refuse_value("start_epoch", "a stream that has begun",
                 "one without subscriptions and messages");
  if (df.size() > kMaxToken)
    refuse_value("df", std::to_string(df.size()), "at most " + std::to_string(kMaxToken));
  std::vector<TokenWeights::Count> counts;
  for (std::size_t token = 0; token < df.size(); ++token) {
    if (df[token] >= 0 && static_cast<std::uint64_t>(df[token]) <= documents) continue;
    refuse_value("df of token " + std::to_string(token), std::to_string(df[token]),
                 "a number from 0 to the documents, which are " + std::to_string(documents));
  }
  for (std::uint32_t token = 0; token < df.size(); ++token)
    counts.emplace_back(Token{token}, static_cast<std::uint64_t>(df[token]));
  weights_.start_epoch(documents, counts);
}

/// Leaves distinct tokens in tokens_, ascending, and how often each occurs in counts_; empty: once.
void TopStream::read_tokens(const TokenPoints& rows, std::size_t row) {
  tokens_.clear();
  counts_.clear();
  for (std::int64_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i)
    tokens_.push_back(Token{rows.tokens[static_cast<std::size_t>(i)]});
  std::sort(tokens_.begin(), tokens_.end());
  if (std::adjacent_find(tokens_.begin(), tokens_.end()) == tokens_.end()) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (kept == 0 || tokens_[kept - 1] != tokens_[i]) {
      tokens_[kept++] = tokens_[i];
      counts_.push_back(0);
    }
    ++counts_.back();
  }
  tokens_.resize(kept);
}

MessageId TopStream::store(const TokenPoints& rows, std::size_t row) {
  read_tokens(rows, row);
  return messages_.add({tokens_, counts_, Place::at(rows.at(row))});
}

void TopStream::adopt(const TopStream& other) {
  const auto newest = [](const TopStream& stream) {
    return stream.live_.empty()
               ? 0
               : stream.messages_.number(stream.live_[(stream.oldest_ + stream.live_.size() - 1) %
                                                      stream.live_.size()]) +
                     1;
  };
  if (&other == this || subscriptions_ != 0 || window_ != other.window_ ||
      expiry_ != other.expiry_ || live_.size() != other.live_.size() ||
      newest(*this) != newest(other)) {
    refuse_value("adopt", "a stream that differs, or one that has subscriptions",
                 "the same window, messages and expiry, and no subscriptions yet");
  }
  engine_->adopt(*other.engine_);
  subscriptions_ = other.subscriptions_;
}

void TopStream::subscribe(const TopRows& subscriptions) {
  check_subscriptions(subscriptions);
  for (std::size_t row = 0; row < subscriptions.wanted.rows();) {
    const std::size_t end = std::min(row + kSubscribedAtOnce, subscriptions.wanted.rows());
    engine_->begin();
    for (; row < end; ++row) {
      read_tokens(subscriptions.wanted, row);
      engine_->subscribe(SubscriptionId{subscriptions_++}, tokens_, subscriptions.terms(row));
    }
    changes_.clear();
    engine_->finish(changes_);
  }
}

StepTimes TopStream::publish(const TokenPoints& messages) {
  check_points(messages);
  StepTimes times;
  times.arrival_ns.reserve(messages.rows());
  times.expiry_ns.reserve(messages.rows());
  for (std::size_t row = 0; row < messages.rows(); ++row) {
    const MessageId id = store(messages, row);
    changes_.clear();
    const auto start = Clock::now();
    engine_->begin();
    engine_->publish(id);
    engine_->finish(changes_);
    const auto arrived = Clock::now();
    times.arrival_ns.push_back(nanoseconds(start, arrived));
    if (live_.size() < window_) {
      live_.push_back(id);
      times.expiry_ns.push_back(-1);
    } else {
      const MessageId gone = live_[oldest_];
      live_[oldest_] = id;
      oldest_ = (oldest_ + 1) % window_;
      const auto begun = Clock::now();
      engine_->begin();
      engine_->drop(gone, Reason::kExpired);
      engine_->finish(changes_);
      times.expiry_ns.push_back(nanoseconds(begun, Clock::now()));
      messages_.remove(gone);
    }
    times.changes += changes_.size();
  }
  return times;
}

HeldRows TopStream::results(std::span<const std::int64_t> subscriptions) const {
  HeldRows held;
  for (const std::int64_t subscription : subscriptions) {
    if (subscription < 0 || subscription >= static_cast<std::int64_t>(subscriptions_))
      refuse_value("subscription", std::to_string(subscription),
                   "a number below " + std::to_string(subscriptions_));
    for (const TopResult& result :
         engine_->results(SubscriptionId{static_cast<std::uint32_t>(subscription)})) {
      held.messages.push_back(static_cast<std::int64_t>(messages_.number(result.message)));
      held.scores.push_back(result.score);
    }
    held.ends.push_back(static_cast<std::int64_t>(held.messages.size()));
  }
  return held;
}

HeldRows TopStream::look_at_all(const TopRows& subscriptions) {
  check_subscriptions(subscriptions);
  HeldRows held;
  std::vector<Scored> all;
  for (std::size_t row = 0; row < subscriptions.wanted.rows(); ++row) {
    all.clear();
    read_tokens(subscriptions.wanted, row);
    score_all(subscriptions.terms(row), all);
    const std::size_t count = std::min<std::size_t>(subscriptions.k, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                      [](const Scored& a, const Scored& b) {
                        return a.units != b.units ? a.units > b.units : a.number > b.number;
                      });
    for (std::size_t i = 0; i < count; ++i) {
      held.messages.push_back(static_cast<std::int64_t>(all[i].number));
      held.scores.push_back(all[i].score);
    }
    held.ends.push_back(static_cast<std::int64_t>(held.messages.size()));
  }
  return held;
}

/// For tokens_ in hand; nothing but the definition of the score.
void TopStream::score_all(const TopTerms& terms, std::vector<Scored>& out) const {
  const double length = vector_length(tokens_, {}, weights_);
  for (const MessageId id : live_.view()) {
    const TokenSpan said = messages_.tokens(id);
    const auto counts = messages_.counts(id);
    const double product = common_product(tokens_, said, counts, weights_);
    if (product == 0) continue;
    const double lengths = length * vector_length(said, counts, weights_);
    const double distance = distance_between(terms.at, messages_.centre(id));
    const double score = top_score(terms.alpha, distance, max_distance_, product, lengths);
    out.push_back({units_of(score), messages_.number(id), score});
  }
}

}  // namespace nearcast
