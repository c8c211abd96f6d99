// Conditions: cells that cover ranges, covers that are chosen by use counts, programs that decide
// what their tree says, and damaged programs that are refused.
#include "nearcast/model/conditions.h"

#include <random>

#include "nearcast/model/cells.h"
#include "nearcast/model/condition_plan.h"
#include "nearcast/model/kept_saying.h"
#include "tests/unit/check.h"

namespace nearcast::unit {
namespace {

bool has(const std::vector<Cell>& cells, std::uint64_t key) {
  for (const Cell& cell : cells) {
    if (key >> cell.level == cell.number) return true;
  }
  return false;
}

const Test kKeys("keys of numbers have the order of the numbers", [] {
  const double numbers[] = {-1e308, -5.5, -1e-300, 0, 1e-300, 2, 2.5, 1e308};
  for (std::size_t i = 1; i < std::size(numbers); ++i)
    check(ordered_key(numbers[i - 1]) < ordered_key(numbers[i]));
  check(ordered_key(-0.0) == ordered_key(0.0));
});

const Test kCells("cells hold all of a range, are few, and not much larger", [] {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> draw(-1e4, 1e4);
  for (int i = 0; i < 2000; ++i) {
    double low = draw(random), high = i % 3 == 0 ? low : draw(random);
    if (high < low) std::swap(low, high);
    const auto cells = cells_of(ordered_key(low), ordered_key(high));
    check(!cells.empty() && cells.size() <= kMostCells);
    check(has(cells, ordered_key(low)) && has(cells, ordered_key(high)));
    check(has(cells, ordered_key(low / 2 + high / 2)));
    if (low > 0) check(!has(cells, ordered_key(4 * high)) && !has(cells, ordered_key(low / 4)));
  }
  check(cells_of(7, 7).size() == 1 && cells_of(7, 7)[0].level == 0);
});

ExpressionNode words(std::vector<std::string_view> all) {
  ExpressionNode node;
  node.words = std::move(all);
  return node;
}
ExpressionNode group(ExpressionOp op, std::uint32_t parts) {
  ExpressionNode node;
  node.op = op;
  node.parts = parts;
  return node;
}
ExpressionNode at_most(std::string_view name, double value) {
  ExpressionNode node;
  node.op = ExpressionOp::kCompare;
  node.comparison = Comparison::kAtMost;
  node.values.push_back({name, ValueKind::kNumber, value, {}});
  return node;
}

const Test kFaults("an expression that lacks parts, or is too deep, has a fault", [] {
  check(!Expression{{words({"a"}), words({"b"}), group(ExpressionOp::kOr, 2)}}.fault());
  check(Expression{{words({"a"}), group(ExpressionOp::kOr, 2)}}.fault().has_value());
  check(Expression{{words({"a"}), words({"b"})}}.fault().has_value());
  check(Expression{{words({})}}.fault().has_value());
  for (const std::size_t depth : {Expression::kMaxDepth - 1, Expression::kMaxDepth}) {
    Expression deep{{words({"a"})}};
    for (std::size_t i = 0; i < depth; ++i) deep.nodes.push_back(group(ExpressionOp::kNot, 0));
    check(deep.fault().has_value() == (depth >= Expression::kMaxDepth));
  }
});

/// Uses of words that other subscriptions have.
void use(Vocabulary& vocabulary, std::string_view word, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) vocabulary.intern(word);
}

const Test kOneClause(
    "words that are all wanted, some not, are one clause without a condition", [] {
      Vocabulary vocabulary;
      const Expression wanted{{words({"a"}), words({"b"}), group(ExpressionOp::kNot, 0),
                               words({"c"}), group(ExpressionOp::kAnd, 3)}};
      Wish wish;
      wish.keywords = &wanted;
      {
        const ConditionPlan plan(wish, vocabulary);
        check(plan.clauses().size() == 1 && plan.program().empty());
        check(plan.clauses()[0].positive.size() == 2 && plan.clauses()[0].negative.size() == 1);
      }
      check(vocabulary.size() == 0);  // a plan that is not kept holds no word
    });

const Test kContradiction("what contradicts itself is filed nowhere", [] {
  Vocabulary vocabulary;
  const Expression wanted{
      {words({"a"}), words({"a"}), group(ExpressionOp::kNot, 0), group(ExpressionOp::kAnd, 2)}};
  Wish wish;
  wish.keywords = &wanted;
  check(ConditionPlan(wish, vocabulary).clauses().empty());
});

const Test kRarest("an AND is filed under one rare word, or under an OR if that is rarer", [] {
  Expression wanted{{words({"flat"}), words({"free"}), words({"sale"}), group(ExpressionOp::kOr, 2),
                     group(ExpressionOp::kAnd, 2)}};
  Wish wish;
  wish.keywords = &wanted;
  // One alternative against two: the border is where flat has kAlternative more uses.
  for (const std::size_t uses : {ConditionPlan::kAlternative, ConditionPlan::kAlternative + 3}) {
    Vocabulary vocabulary;
    use(vocabulary, "flat", uses);
    const ConditionPlan plan(wish, vocabulary);
    const bool is_frequent = uses > ConditionPlan::kAlternative + 1;
    check(plan.clauses().size() == (is_frequent ? 2u : 1u));
    check(plan.program().empty() == is_frequent);  // both clauses together are exact
  }
});

const Test kNothingMultiplied("alternatives are never multiplied out", [] {
  Vocabulary vocabulary;
  Expression wanted;
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back("w" + std::to_string(i));
  for (int part = 0; part < 3; ++part) {
    for (int i = 0; i < 4; ++i) wanted.nodes.push_back(words({names[4 * part + i]}));
    wanted.nodes.push_back(group(ExpressionOp::kOr, 4));
  }
  wanted.nodes.push_back(group(ExpressionOp::kAnd, 3));
  Wish wish;
  wish.keywords = &wanted;
  check(ConditionPlan(wish, vocabulary).clauses().size() == 4);
});

const Test kRanges(
    "a range is filed under cells where its word is frequent, and not where words "
    "alone are wanted",
    [] {
      const Expression cheap{{at_most("price", 1200)}};
      const std::string_view flat = "flat";
      Wish wish{{&flat, 1}};
      wish.where = &cheap;
      for (const bool is_frequent : {false, true}) {
        for (const bool words_only : {false, true}) {
          Vocabulary vocabulary;
          use(vocabulary, "flat", is_frequent ? 10 * kMostCells * ConditionPlan::kAlternative : 1);
          wish.words_only = words_only;
          const ConditionPlan plan(wish, vocabulary);
          check((plan.clauses().size() > 1) == (is_frequent && !words_only));
          check(plan.program().size() == 4);  // the comparison; the word is in each clause
        }
      }
    });

const Test kShared("words that alternatives share are written with each, up to a limit", [] {
  for (const std::size_t count : {ConditionPlan::kMostShared, ConditionPlan::kMostShared + 1}) {
    Vocabulary vocabulary;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back("w" + std::to_string(i));
    for (const std::string& name : names) use(vocabulary, name, 1000);
    const std::vector<std::string_view> plain(names.begin(), names.end());
    const Expression either{{words({"x"}), words({"y"}), group(ExpressionOp::kOr, 2)}};
    Wish wish{plain};
    wish.keywords = &either;
    const ConditionPlan plan(wish, vocabulary);
    check(plan.clauses().size() == 2);
    check(plan.program().empty() == (count <= ConditionPlan::kMostShared));
  }
});

const Test kUnsound("damaged programs are refused", [] {
  const auto known = [](std::uint32_t token) { return token < 10; };
  const auto make = ProgramWord::make;
  using Op = ProgramWord::Op;
  const auto is_ok = [&](std::vector<std::uint32_t> program) { return is_sound(program, known); };
  check(is_ok({1}));
  check(is_ok({make(Op::kOr, 3), 1, make(Op::kNotToken, 0), 2}));
  check(!is_ok({}));
  check(!is_ok({11}));
  check(!is_ok({1, 2}));
  check(!is_ok({make(Op::kAnd, 0)}));
  check(!is_ok({make(Op::kAnd, 5), 1, 2}));
  check(!is_ok({make(Op::kNotToken, 0)}));
  check(!is_ok({make(Op::kPhrase, 2 << 1), 1}));
  check(!is_ok({make(Op::kCompare, 0), 1, 0}));
  check(!is_ok({make(Op::kCompare, 0), 1, 0xFFFFFFFFu, 0xFFFFFFFFu}));  // not a number
  check(!is_ok({make(Op::kCompare, 7 << 1), 1, 0, 0}));
  for (const std::size_t depth : {kMaxProgramDepth, kMaxProgramDepth + 1}) {
    std::vector<std::uint32_t> deep;
    for (std::size_t i = 0; i < depth; ++i)
      deep.push_back(make(Op::kAnd, static_cast<std::uint32_t>(depth - i)));
    deep.push_back(1);
    check(is_ok(deep) == (depth <= kMaxProgramDepth));
    const Token token{1};
    if (depth <= kMaxProgramDepth) check(holds(deep, {{&token, 1}, {}, {}, nullptr}));
  }
});

const Test kPlaces("the order of words is kept in one, two or four bytes", [] {
  for (const std::size_t count : {1u, 254u, 255u, 65534u, 65535u, 70000u}) {
    std::vector<Token> tokens, order, read;
    for (std::uint32_t i = 0; i < count; ++i) tokens.push_back(Token{3 * i});
    order = {tokens.back(), kUnknownToken, tokens.front()};
    std::vector<std::uint32_t> kept;
    KeptSaying::write(tokens, order, "bytes", kept);
    const KeptSaying said(kept.data());
    said.read_order(tokens, read);
    check(read == order && said.attributes() == "bytes" && said.size() == kept.size());
    check(said.is_sound(tokens.size()) && (count == 1 || !said.is_sound(count - 1)));
  }
});

}  // namespace
}  // namespace nearcast::unit
