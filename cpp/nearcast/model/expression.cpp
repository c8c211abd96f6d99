#include "nearcast/model/expression.h"

#include <algorithm>

namespace nearcast {
namespace {

bool is_ordering(Comparison comparison) { return comparison >= Comparison::kLess; }

std::optional<std::string_view> fault_of(const ExpressionNode& node) {
  switch (node.op) {
    case ExpressionOp::kWords:
      if (node.words.empty()) return "a keyword without words";
      return std::nullopt;
    case ExpressionOp::kPhrase:
      if (std::all_of(node.words.begin(), node.words.end(),
                      [](std::string_view word) { return word.data() == nullptr; }))
        return "a phrase without words";
      return std::nullopt;
    case ExpressionOp::kPrefix:
      if (node.words.size() != 1 || node.words[0].size() < 2) return "a prefix of one letter";
      return std::nullopt;
    case ExpressionOp::kCompare:
      if (is_ordering(node.comparison) && node.values[0].kind != ValueKind::kNumber)
        return "an order of values that are not numbers";
      return std::nullopt;
    case ExpressionOp::kIn:
      if (node.values.empty()) return "IN without values";
      return std::nullopt;
    case ExpressionOp::kAnd:
    case ExpressionOp::kOr:
      if (node.parts < 1) return "AND or OR without parts";
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::string_view> Expression::fault() const {
  std::vector<std::size_t> depths;  // of the parts that nothing joins yet
  std::size_t leaves = 0;
  for (const ExpressionNode& node : nodes) {
    if (const auto fault = fault_of(node)) return fault;
    std::size_t parts = 0;
    if (node.op == ExpressionOp::kNot) parts = 1;
    if (node.op == ExpressionOp::kAnd || node.op == ExpressionOp::kOr) parts = node.parts;
    if (parts > depths.size()) return "an operator that lacks a part";
    std::size_t depth = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      depth = std::max(depth, depths.back());
      depths.pop_back();
    }
    depths.push_back(depth + 1);
    leaves += node.words.size() + node.values.size();
    if (depth >= kMaxDepth) return "parts in parts, more than 512 deep";
    if (leaves > kMaxLeaves) return "more than 65536 words and values";
  }
  if (!nodes.empty() && depths.size() != 1) return "parts that nothing joins";
  return std::nullopt;
}

}  // namespace nearcast
