/// Top lists over the newest so many messages: columns in, times out. What benchmarks run.
///
/// The engine is that of a hub. What a hub adds is left out (ids, clocks, texts, changes as rows),
/// so that times are those of keeping the lists. A message that arrives and the one that it pushes
/// out of the window are two events here, so that each has a time of its own.
///
/// Subscriptions and messages are numbered in the order in which they come, tokens by the caller.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/model/message_store.h"
#include "nearcast/text/token_weights.h"
#include "nearcast/topk/top_engine.h"

namespace nearcast {

/// Rows of tokens with points: row i has tokens offsets[i] to offsets[i + 1], in any order.
struct TokenPoints {
  std::span<const std::int64_t> offsets;
  std::span<const std::uint32_t> tokens;
  std::span<const double> lon, lat;

  std::size_t rows() const { return lon.size(); }
  Point at(std::size_t row) const { return {lon[row], lat[row]}; }
};

/// Top subscriptions; all want k.
struct TopRows {
  TokenPoints wanted;
  std::span<const double> alpha;
  std::uint32_t k;

  TopTerms terms(std::size_t row) const { return {wanted.at(row), k, alpha[row]}; }
};

/// What several lists hold, one behind the other, each best first.
struct HeldRows {
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> messages;
  std::vector<double> scores;
};

struct StepTimes {
  std::vector<std::int64_t> arrival_ns, expiry_ns;  ///< expiry: −1 while the window is not full
  std::uint64_t changes = 0;
};

class TopStream {
 public:
  TopStream(std::size_t window, const Rect& space, const std::string& arrival,
            const std::string& expiry, const TopTuning& tuning);

  /// Weigh tokens by how many of so many documents have them. Before anything else.
  void start_epoch(std::uint64_t documents, std::span<const std::int64_t> df);
  void subscribe(const TopRows& subscriptions);
  /// Subscriptions and lists of a stream of the same messages with the same kind of expiry.
  void adopt(const TopStream& other);
  StepTimes publish(const TokenPoints& messages);

  HeldRows results(std::span<const std::int64_t> subscriptions) const;
  /// What such subscriptions would hold, by looking at every live message.
  HeldRows look_at_all(const TopRows& subscriptions);
  TopStats stats() const { return engine_->stats(); }
  std::size_t message_bytes() const { return messages_.memory_bytes(); }
  void check_invariants() const { engine_->check_invariants(); }

 private:
  struct Scored {
    Units units;
    std::uint64_t number;
    double score;
  };

  void score_all(const TopTerms& terms, std::vector<Scored>& out) const;
  void read_tokens(const TokenPoints& rows, std::size_t row);
  MessageId store(const TokenPoints& rows, std::size_t row);

  std::size_t window_;
  double max_distance_;
  TokenWeights weights_;
  MessageStore messages_;
  std::unique_ptr<TopEngine> engine_;
  std::string expiry_;
  Array<MessageId> live_;   ///< a ring once the window is full
  std::size_t oldest_ = 0;  ///< its place in the ring
  std::uint32_t subscriptions_ = 0;
  TopChanges changes_;
  std::vector<Token> tokens_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace nearcast
