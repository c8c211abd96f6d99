/// Conditions and attributes of Python as the core's. Everything is checked here: the extension can
/// be imported by anyone. Views live as long as the Python values do.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <vector>

#include "nearcast/model/attribute.h"
#include "nearcast/model/expression.h"
#include "nearcast/model/message.h"

namespace nb = nanobind;

namespace nearcast {

/// A tuple of nodes in postfix order, each a tuple of its number (ExpressionOp) and
///   [word, …]                     0 words
///   [word | None, …]              1 phrase
///   start                         2 prefix
///   name, comparison, value       3
///   name, [value, …]              4
///   name                          5
///   nothing                       6 not
///   number of parts               7 and, 8 or
Expression expression_from(nb::handle nodes, const char* name);
/// None, or a list of words that are all wanted, or an expression.
void keywords_from(nb::handle given, std::vector<std::string_view>& plain, Expression& expression);
/// None, or a dict of numbers, strings, truth values and sequences of strings.
std::vector<Attribute> attributes_from(nb::handle given);
/// The words of a text, in order; None: one that was left out.
std::vector<std::string_view> text_from_list(nb::handle words);

}  // namespace nearcast
