#include "bindings/expressions.h"

#include <string>

#include "bindings/arguments.h"
#include "bindings/columns.h"
#include "nearcast/base/errors.h"
#include "nearcast/model/subscription_store.h"

namespace nearcast {
namespace {

constexpr std::size_t kMaxAttributes = 1 << 16;  ///< values of one message, those of lists included

std::string_view name_from(nb::handle value) {
  const std::string_view name = word_from(value, "name of an attribute");
  if (name.empty() || name.find('\0') != std::string_view::npos)
    refuse_argument("name of an attribute", value, "a name without a zero byte");
  return name;
}

Attribute value_from(std::string_view name, nb::handle value) {
  Attribute made{name};
  if (PyBool_Check(value.ptr())) {
    made.kind = ValueKind::kTruth;
    made.number = value.ptr() == Py_True ? 1 : 0;
  } else if (PyUnicode_Check(value.ptr())) {
    made.kind = ValueKind::kText;
    made.text = word_from(value, "value of an attribute");
  } else {
    made.number = number_from(value, "value of an attribute");
  }
  return made;
}

std::vector<std::string_view> words_with_gaps(nb::handle words, const char* name) {
  std::vector<std::string_view> views;
  const nb::list list = list_from(words, name);
  views.reserve(list.size());
  for (const nb::handle word : list)
    views.push_back(word.is_none() ? std::string_view() : word_from(word, "word"));
  return views;
}

void read_comparison(const nb::tuple& parts, ExpressionNode& node) {
  const std::string_view name = name_from(parts[1]);
  if (node.op == ExpressionOp::kExists) {
    node.values.push_back({name});
  } else if (node.op == ExpressionOp::kCompare) {
    node.comparison = static_cast<Comparison>(
        whole_from(parts[2], "comparison", 0, static_cast<int>(Comparison::kAtLeast)));
    node.values.push_back(value_from(name, parts[3]));
  } else {
    for (const nb::handle value : list_from(parts[2], "values"))
      node.values.push_back(value_from(name, value));
  }
}

ExpressionNode node_from(nb::handle given) {
  constexpr int kLast = static_cast<int>(ExpressionOp::kOr);
  constexpr std::size_t kSizes[] = {2, 2, 2, 4, 3, 2, 1, 2, 2};  // by op
  const nb::tuple parts = tuple_from(given, "part of an expression", 1, 4);
  ExpressionNode node;
  node.op = static_cast<ExpressionOp>(whole_from(parts[0], "part of an expression", 0, kLast));
  tuple_from(given, "part of an expression", kSizes[static_cast<int>(node.op)]);
  switch (node.op) {
    case ExpressionOp::kWords:
      node.words = words_from_list(parts[1]);
      break;
    case ExpressionOp::kPhrase:
      node.words = words_with_gaps(parts[1], "phrase");
      break;
    case ExpressionOp::kPrefix:
      node.words.push_back(word_from(parts[1], "prefix"));
      break;
    case ExpressionOp::kNot:
      break;
    case ExpressionOp::kAnd:
    case ExpressionOp::kOr:
      node.parts = static_cast<std::uint32_t>(
          whole_from(parts[1], "number of parts", 1, Expression::kMaxLeaves));
      break;
    default:
      read_comparison(parts, node);
  }
  return node;
}

void append_values(std::string_view name, nb::handle value, std::vector<Attribute>& all) {
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
    all.push_back(value_from(name, value));
    return;
  }
  const std::size_t first = all.size();
  for (const nb::handle text : value)
    all.push_back({name, ValueKind::kText, 0, word_from(text, "text of an attribute")});
  if (all.size() == first) all.push_back({name, ValueKind::kNoTexts});
}

}  // namespace

Expression expression_from(nb::handle nodes, const char* name) {
  if (!PyTuple_Check(nodes.ptr())) refuse_argument(name, nodes, "a tuple of its parts");
  Expression made;
  for (const nb::handle node : nodes) made.nodes.push_back(node_from(node));
  if (made.nodes.empty()) refuse_argument(name, nodes, "at least one part");
  if (const auto fault = made.fault())
    throw Error(ErrorKind::kInvalidParameter, name, std::string(*fault), "an expression");
  return made;
}

void keywords_from(nb::handle given, std::vector<std::string_view>& plain, Expression& expression) {
  if (given.is_none()) return;
  if (PyTuple_Check(given.ptr())) {
    expression = expression_from(given, "keywords");
    return;
  }
  plain = words_from_list(given);
  if (plain.empty() || plain.size() > SubscriptionStore::kMaxTokens)
    refuse_argument("keywords", nb::int_(plain.size()),
                    "1 to " + std::to_string(SubscriptionStore::kMaxTokens) + " words");
}

std::vector<Attribute> attributes_from(nb::handle given) {
  std::vector<Attribute> all;
  if (given.is_none()) return all;
  if (!PyDict_Check(given.ptr()))
    refuse_argument("attributes", given, "a dict of names and values");
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(given.ptr(), &at, &name, &value) != 0;) {
    append_values(name_from(name), value, all);
    if (all.size() > kMaxAttributes)
      refuse_argument("attributes", nb::int_(all.size()),
                      "at most " + std::to_string(kMaxAttributes) + " values");
  }
  return all;
}

std::vector<std::string_view> text_from_list(nb::handle words) {
  return words_with_gaps(words, "words");
}

}  // namespace nearcast
