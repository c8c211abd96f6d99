#include "nearcast/model/condition_tree.h"

#include <algorithm>

namespace nearcast {

Token ConditionTree::pin(std::string_view word) {
  const Token token = words_.intern(word);
  pins_.push_back(token);
  return token;
}

std::uint32_t ConditionTree::add(std::uint32_t parent, Node node) {
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(std::move(node));
  nodes_[parent].parts.push_back(number);
  return number;
}

/// Where the parts of such a group go: into the parent, if it is of the same kind.
std::uint32_t ConditionTree::group(std::uint32_t parent, Kind kind) {
  if (nodes_[parent].kind == kind) return parent;
  Node made;
  made.kind = kind;
  return add(parent, std::move(made));
}

void ConditionTree::add_token(std::uint32_t parent, std::string_view word, bool is_term,
                              bool is_negated) {
  Node made;
  made.token = pin(word);
  made.is_term = is_term;
  made.is_negated = is_negated;
  add(parent, std::move(made));
}

/// Postfix read backwards meets each operator before its parts. `places` has where the parts still
/// to come belong, and whether they are negated.
void ConditionTree::require(const Expression& expression) {
  struct Part {
    std::uint32_t parent;
    bool is_negated;
  };
  std::vector<Part> places{{kRoot, false}};
  for (auto node = expression.nodes.rbegin(); node != expression.nodes.rend(); ++node) {
    const auto [parent, is_negated] = places.back();
    places.pop_back();
    if (node->op == ExpressionOp::kNot) {
      places.push_back({parent, !is_negated});
    } else if (node->op == ExpressionOp::kAnd || node->op == ExpressionOp::kOr) {
      const bool is_or = (node->op == ExpressionOp::kOr) != is_negated;
      const std::uint32_t own = group(parent, is_or ? Kind::kOr : Kind::kAnd);
      places.insert(places.end(), node->parts, {own, is_negated});
    } else {
      add_test(parent, *node, is_negated);
    }
  }
}

void ConditionTree::add_test(std::uint32_t parent, const ExpressionNode& test, bool is_negated) {
  switch (test.op) {
    case ExpressionOp::kWords: {
      const std::uint32_t own =
          test.words.size() == 1 ? parent : group(parent, is_negated ? Kind::kOr : Kind::kAnd);
      for (const std::string_view word : test.words) add_token(own, word, false, is_negated);
      return;
    }
    case ExpressionOp::kPhrase:
      add_phrase(parent, test, is_negated);
      return;
    case ExpressionOp::kPrefix:
      add_token(parent, term_words_.prefix(test.words[0]), true, is_negated);
      return;
    case ExpressionOp::kExists:
      add_token(parent, term_words_.exists(test.values[0].name), true, is_negated);
      return;
    case ExpressionOp::kIn: {
      const std::uint32_t own = group(parent, is_negated ? Kind::kAnd : Kind::kOr);
      for (const Attribute& value : test.values)
        add_token(own, term_words_.equal(value), true, is_negated);
      return;
    }
    default:
      add_comparison(parent, test, is_negated);
  }
}

void ConditionTree::add_phrase(std::uint32_t parent, const ExpressionNode& test, bool is_negated) {
  if (test.words.size() == 1) {
    add_token(parent, test.words[0], false, is_negated);
    return;
  }
  Node made;
  made.kind = Kind::kPhrase;
  made.is_negated = is_negated;
  for (const std::string_view word : test.words)
    made.parts.push_back(raw(word.data() == nullptr ? kUnknownToken : pin(word)));
  add(parent, std::move(made));
}

void ConditionTree::add_comparison(std::uint32_t parent, const ExpressionNode& test,
                                   bool is_negated) {
  const Attribute& value = test.values[0];
  if (test.comparison == Comparison::kEqual) {
    add_token(parent, term_words_.equal(value), true, is_negated);
  } else if (test.comparison == Comparison::kUnequal) {
    const std::uint32_t own = group(parent, is_negated ? Kind::kOr : Kind::kAnd);
    add_token(own, term_words_.typed(value.name, value.kind), true, is_negated);
    add_token(own, term_words_.equal(value), true, !is_negated);
  } else {
    Node made;
    made.kind = Kind::kNumber;
    made.is_negated = is_negated;
    made.comparison = test.comparison;
    made.value = value.number;
    made.name = value.name;
    made.token = pin(term_words_.named(value.name));
    add(parent, std::move(made));
  }
}

// ---- the program ------------------------------------------------------------------------------

void ConditionTree::write_test(const Node& node, std::vector<std::uint32_t>& out) const {
  using Op = ProgramWord::Op;
  const std::uint32_t negated = node.is_negated ? 1 : 0;
  if (node.kind == Kind::kToken) {
    if (node.is_negated) out.push_back(ProgramWord::make(Op::kNotToken, 0));
    out.push_back(raw(node.token));
  } else if (node.kind == Kind::kPhrase) {
    const auto count = static_cast<std::uint32_t>(node.parts.size());
    out.push_back(ProgramWord::make(Op::kPhrase, count << 1 | negated));
    out.insert(out.end(), node.parts.begin(), node.parts.end());
  } else {
    out.push_back(ProgramWord::make(Op::kCompare,
                                    static_cast<std::uint32_t>(node.comparison) << 1 | negated));
    out.push_back(raw(node.token));
    std::uint32_t value[2];
    std::memcpy(value, &node.value, sizeof(value));
    out.insert(out.end(), value, value + 2);
  }
}

void ConditionTree::write(std::uint32_t root, std::vector<std::uint32_t>& out) const {
  struct Group {
    std::uint32_t node;
    std::size_t next, start;
  };
  std::vector<Group> open;
  std::uint32_t at = root;
  while (true) {
    const Node& node = nodes_[at];
    if (node.kind <= Kind::kOr) {
      open.push_back({at, 0, out.size()});
      out.push_back(0);
    } else {
      write_test(node, out);
    }
    while (!open.empty() && open.back().next == nodes_[open.back().node].parts.size()) {
      const Group done = open.back();
      open.pop_back();
      const bool is_or = nodes_[done.node].kind == Kind::kOr;
      out[done.start] = ProgramWord::make(is_or ? ProgramWord::Op::kOr : ProgramWord::Op::kAnd,
                                          static_cast<std::uint32_t>(out.size() - done.start - 1));
    }
    if (open.empty()) return;
    at = nodes_[open.back().node].parts[open.back().next++];
  }
}

void ConditionTree::write_program(std::span<const std::uint32_t> parts,
                                  std::vector<std::uint32_t>& out) const {
  const std::size_t start = out.size();
  if (parts.size() > 1) out.push_back(0);
  for (const std::uint32_t part : parts) write(part, out);
  if (parts.size() > 1)
    out[start] = ProgramWord::make(ProgramWord::Op::kAnd,
                                   static_cast<std::uint32_t>(out.size() - start - 1));
}

}  // namespace nearcast
