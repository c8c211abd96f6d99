/// How much does a token count? The weights epoch in force.
///
///   ω(t) = idf(t) = ln((1 + N) / (1 + df(t))) + 1
///
/// N is a number of documents, df(t) how many of them have t. A token that the epoch does not know,
/// also one that is younger than the epoch, has df 0. With no epoch every token counts 1. A weight
/// is never below 1, so a sum of weights is never 0.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/ids.h"
#include "nearcast/text/token_set.h"

namespace nearcast {

class TokenWeights {
 public:
  using Count = std::pair<Token, std::uint64_t>;  ///< a token and its df

  double operator[](Token token) const {
    return raw(token) < known_.size() ? known_[raw(token)] : of_unknown_;
  }

  /// The weight of a set. The order of the sum is the tokens', which ascend: equal sets have equal
  /// weights, to the last bit.
  double sum(TokenSpan tokens) const {
    double total = 0;
    for (const Token token : tokens) total += (*this)[token];
    return total;
  }

  void start_epoch(std::uint64_t documents, std::span<const Count> counts) {
    const auto idf = [&](std::uint64_t df) {
      return std::log((1 + static_cast<double>(documents)) / (1 + static_cast<double>(df))) + 1;
    };
    of_unknown_ = idf(0);
    known_.clear();
    for (const auto& [token, df] : counts) {
      while (known_.size() <= raw(token)) known_.push_back(of_unknown_);
      known_[raw(token)] = idf(df);
    }
  }
  void end_epoch() {
    known_.clear();
    of_unknown_ = 1;
  }

  /// The tokens that the epoch in force lists. Their words must stay known: another word under the
  /// same number would get their weight.
  std::vector<Token> listed() const {
    std::vector<Token> tokens;
    for (std::uint32_t token = 0; token < known_.size(); ++token) {
      if (known_[token] != of_unknown_) tokens.push_back(Token{token});
    }
    return tokens;
  }

  std::size_t memory_bytes() const { return known_.memory_bytes(); }
  void save(ArchiveWriter& out) const {
    out.value(of_unknown_);
    known_.save(out);
  }
  void load(ArchiveReader& in) {
    of_unknown_ = in.value<double>();
    known_.load(in);
  }
  /// Throws a snapshot error if a number is not a valid weight, or a token is not below `tokens`.
  void check_loaded(std::size_t tokens) const {
    const auto is_weight = [](double weight) { return weight >= 1 && weight < 1e6; };  // not NaN
    expect(known_.size() <= tokens && is_weight(of_unknown_), "the weight of a word");
    for (const double weight : known_) expect(is_weight(weight), "the weight of a word");
  }

 private:
  Array<double> known_;  ///< by token
  double of_unknown_ = 1;
};

}  // namespace nearcast
