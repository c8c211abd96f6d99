#include "nearcast/model/condition_program.h"

#include <algorithm>
#include <limits>

#include "nearcast/base/bounded_array.h"
#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

using Op = ProgramWord::Op;

bool compares(double number, Comparison comparison, double value) {
  switch (comparison) {
    case Comparison::kEqual:
      return number == value;
    case Comparison::kUnequal:
      return number != value;
    case Comparison::kLess:
      return number < value;
    case Comparison::kAtMost:
      return number <= value;
    case Comparison::kMore:
      return number > value;
    case Comparison::kAtLeast:
      return number >= value;
  }
  return false;
}

bool has_number(const Facts& facts, Token name, Comparison comparison, double value) {
  for (const NumberFact& fact : facts.numbers) {
    if (fact.name == name && compares(fact.value, comparison, value)) return true;
  }
  return false;
}

bool has_phrase(const Facts& facts, std::span<const std::uint32_t> phrase) {
  if (phrase.size() > facts.order.size()) return false;
  for (std::size_t start = 0; start + phrase.size() <= facts.order.size(); ++start) {
    std::size_t i = 0;
    for (; i < phrase.size(); ++i) {
      const Token wanted{phrase[i]};
      if (wanted != kUnknownToken && wanted != facts.order[start + i]) break;
    }
    if (i == phrase.size()) return true;
  }
  return false;
}

bool passes(const std::uint32_t* test, const Facts& facts) {
  const std::uint32_t word = test[0];
  if (ProgramWord::is_token(word)) return contains(facts.tokens, Token{word});
  const std::uint32_t body = ProgramWord::body(word);
  switch (ProgramWord::op(word)) {
    case Op::kNotToken:
      return !contains(facts.tokens, Token{test[1]});
    case Op::kPhrase:
      return has_phrase(facts, {test + 1, body >> 1}) != ((body & 1) != 0);
    default: {
      double value;
      std::memcpy(&value, test + 2, sizeof(value));
      return has_number(facts, Token{test[1]}, static_cast<Comparison>(body >> 1), value) !=
             ((body & 1) != 0);
    }
  }
}

void narrow(Token name, Comparison comparison, double value, std::vector<NumberRange>& ranges) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  auto found = std::find_if(ranges.begin(), ranges.end(),
                            [&](const NumberRange& range) { return range.name == name; });
  if (found == ranges.end()) found = ranges.insert(found, {name, -kInfinite, kInfinite});
  if (comparison == Comparison::kLess || comparison == Comparison::kAtMost) {
    found->high = std::min(found->high, value);
  } else if (comparison == Comparison::kMore || comparison == Comparison::kAtLeast) {
    found->low = std::max(found->low, value);
  }
}

/// A group that is not decided yet.
struct Open {
  std::uint32_t end;
  bool is_or;
};

}  // namespace

bool holds(ProgramView program, const Facts& facts) {
  BoundedArray<Open, kMaxProgramDepth> open;
  std::uint32_t at = 0;
  while (true) {
    const std::uint32_t word = program[at];
    if (!ProgramWord::is_token(word) && ProgramWord::op(word) <= Op::kOr) {
      open.push_back({at + 1 + ProgramWord::body(word), ProgramWord::op(word) == Op::kOr});
      ++at;
      continue;
    }
    const bool is_true = passes(&program[at], facts);
    at += static_cast<std::uint32_t>(ProgramWord::size_of_test(word));
    // A part that is true decides an OR, one that is false an AND; the last part decides both.
    while (open.size() != 0) {
      const Open& inner = open.back();
      if (is_true == inner.is_or) {
        at = inner.end;
      } else if (at != inner.end) {
        break;
      }
      open.pop_back();
    }
    if (open.size() == 0) return is_true;
  }
}

void ranges_in(ProgramView program, std::vector<NumberRange>& out) {
  if (program.empty()) return;
  const bool is_and = !ProgramWord::is_token(program[0]) && ProgramWord::op(program[0]) == Op::kAnd;
  for (std::size_t at = is_and ? 1 : 0; at < program.size();) {
    const std::uint32_t word = program[at];
    const bool is_group = !ProgramWord::is_token(word) && ProgramWord::op(word) <= Op::kOr;
    if (is_group) {
      at += 1 + ProgramWord::body(word);
      continue;
    }
    if (!ProgramWord::is_token(word) && ProgramWord::op(word) == Op::kCompare &&
        (ProgramWord::body(word) & 1) == 0) {
      double value;
      std::memcpy(&value, &program[at + 2], sizeof(value));
      narrow(Token{program[at + 1]}, static_cast<Comparison>(ProgramWord::body(word) >> 1), value,
             out);
    }
    at += ProgramWord::size_of_test(word);
  }
}

}  // namespace nearcast
