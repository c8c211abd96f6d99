/// A condition as a program: a tree of AND and OR in the order of reading, over tests that the
/// facts of a message (model/facts.h) pass or fail. NOT stands at the tests alone.
///
///   token                 has the message this word or term?
///   AND, OR size          of what follows, `size` words of it
///   NOT token             has it not?
///   PHRASE count …        are these next to each other? kUnknownToken: any word
///   COMPARE name value    is there such a number, and does it compare so?
///
/// Deciding walks from left to right, leaves a group as soon as it is decided, and remembers only
/// the groups that are open: kMaxDepth at most.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "nearcast/model/expression.h"
#include "nearcast/model/facts.h"

namespace nearcast {

/// Words of a program and how they are read.
struct ProgramWord {
  enum class Op : std::uint32_t { kAnd, kOr, kNotToken, kPhrase, kCompare };
  static constexpr std::uint32_t kOpBit = 0x80000000u;  ///< without it, the word is a token
  static constexpr std::uint32_t kBodyBits = 28;        ///< below the op
  static constexpr std::uint32_t kBody = (1u << kBodyBits) - 1;

  static bool is_token(std::uint32_t word) { return (word & kOpBit) == 0; }
  static Op op(std::uint32_t word) { return static_cast<Op>(word >> kBodyBits & 7); }
  static std::uint32_t body(std::uint32_t word) { return word & kBody; }
  static std::uint32_t make(Op op, std::uint32_t body) {
    return kOpBit | static_cast<std::uint32_t>(op) << kBodyBits | body;
  }
  /// Words of a test, its own included. The body of a phrase is count << 1 | is_negated, that of a
  /// comparison is comparison << 1 | is_negated.
  static std::size_t size_of_test(std::uint32_t word) {
    if (is_token(word)) return 1;
    if (op(word) == Op::kNotToken) return 2;
    return op(word) == Op::kPhrase ? 1 + std::size_t{body(word) >> 1} : 4;
  }
};

using ProgramView = std::span<const std::uint32_t>;

constexpr std::size_t kMaxProgramDepth = 1024;     ///< groups in groups
constexpr std::size_t kMaxProgramWords = 1 << 22;  ///< of one condition

/// Do the facts satisfy the program?
bool holds(ProgramView program, const Facts& facts);

/// Is it a program that holds() can run, with tokens that `is_known` accepts?
template <typename IsKnown>
bool is_sound(ProgramView program, IsKnown&& is_known);

/// Calls visit(token) for each token of the program, also the names of numbers.
template <typename Visit>
void for_each_token(ProgramView program, Visit&& visit) {
  using ProgramOp = ProgramWord::Op;
  for (std::size_t at = 0; at < program.size();) {
    const std::uint32_t word = program[at];
    if (ProgramWord::is_token(word)) {
      visit(Token{word});
      ++at;
      continue;
    }
    const ProgramOp op = ProgramWord::op(word);
    if (op == ProgramOp::kAnd || op == ProgramOp::kOr) {
      ++at;
      continue;
    }
    const std::size_t size = ProgramWord::size_of_test(word);
    if (op == ProgramOp::kCompare) {
      visit(Token{program[at + 1]});
    } else {
      for (std::size_t i = 1; i < size; ++i) {
        if (Token{program[at + i]} != kUnknownToken) visit(Token{program[at + i]});
      }
    }
    at += size;
  }
}

/// Numbers from `low` to `high`, each of which may be infinite.
struct NumberRange {
  Token name;
  double low, high;
};

/// Appends the ranges without which the program does not hold: one for each attribute that the
/// outermost AND compares. A range may hold an end that the program does not accept.
void ranges_in(ProgramView program, std::vector<NumberRange>& out);

inline std::size_t phrases_in(ProgramView program) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < program.size();) {
    const std::uint32_t word = program[at];
    const bool is_op = !ProgramWord::is_token(word);
    const bool is_group = is_op && ProgramWord::op(word) <= ProgramWord::Op::kOr;
    count += is_op && ProgramWord::op(word) == ProgramWord::Op::kPhrase;
    at += is_group ? 1 : ProgramWord::size_of_test(word);
  }
  return count;
}

template <typename IsKnown>
bool is_sound(ProgramView program, IsKnown&& is_known) {
  using ProgramOp = ProgramWord::Op;
  if (program.empty() || program.size() > kMaxProgramWords) return false;
  std::vector<std::size_t> ends;  // of the groups that are open
  std::size_t at = 0, roots = 0;
  while (at < program.size()) {
    while (!ends.empty() && ends.back() == at) ends.pop_back();
    if (ends.empty() && roots++ != 0) return false;
    const std::size_t limit = ends.empty() ? program.size() : ends.back();
    const std::uint32_t word = program[at];
    if (ProgramWord::is_token(word)) {
      if (!is_known(word)) return false;
      ++at;
      continue;
    }
    const ProgramOp op = ProgramWord::op(word);
    if (op > ProgramOp::kCompare) return false;
    if (op == ProgramOp::kAnd || op == ProgramOp::kOr) {
      const std::size_t size = ProgramWord::body(word);
      if (size == 0 || size > limit - at - 1 || ends.size() >= kMaxProgramDepth) return false;
      ends.push_back(at + 1 + size);
      ++at;
      continue;
    }
    const std::size_t size = ProgramWord::size_of_test(word);
    if (size < 2 || size > limit - at) return false;
    if (op == ProgramOp::kCompare) {
      double value;
      std::memcpy(&value, &program[at + 2], sizeof(value));
      const std::uint32_t comparison = ProgramWord::body(word) >> 1;
      if (!is_known(program[at + 1]) || !(value - value == 0) ||
          comparison > static_cast<std::uint32_t>(Comparison::kAtLeast))
        return false;
    } else {
      for (std::size_t i = 1; i < size; ++i) {
        const bool is_gap = op == ProgramOp::kPhrase && Token{program[at + i]} == kUnknownToken;
        if (!is_gap && !is_known(program[at + i])) return false;
      }
    }
    at += size;
  }
  while (!ends.empty() && ends.back() == at) ends.pop_back();
  return ends.empty();
}

}  // namespace nearcast
