/// What keywords or `where` ask for, as it comes from outside: in postfix order, parts before what
/// joins them. The views live as long as the caller's words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nearcast/model/attribute.h"

namespace nearcast {

enum class ExpressionOp : std::uint8_t {
  kWords,    ///< all of these words
  kPhrase,   ///< these words next to each other; one whose data is null: any word
  kPrefix,   ///< a word that starts so
  kCompare,  ///< an attribute with a value
  kIn,       ///< an attribute with one of some values
  kExists,   ///< an attribute of this name
  kNot,      ///< of the part before
  kAnd,      ///< of so many parts before
  kOr
};

enum class Comparison : std::uint8_t { kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast };

struct ExpressionNode {
  ExpressionOp op = ExpressionOp::kWords;
  Comparison comparison = Comparison::kEqual;
  std::uint32_t parts = 0;                ///< of kAnd and kOr
  std::vector<std::string_view> words{};  ///< of a prefix, its letters
  std::vector<Attribute> values{};  ///< of kCompare one, of kIn all; of kExists one, for its name
};

struct Expression {
  static constexpr std::size_t kMaxLeaves = 1 << 16;  ///< words and values of one subscription
  static constexpr std::size_t kMaxDepth = 512;       ///< of parts in parts

  std::vector<ExpressionNode> nodes;

  bool empty() const { return nodes.empty(); }
  /// What is wrong with it, if something is: an operator lacks its parts, a comparison has no
  /// meaning, it is too large or too deep.
  std::optional<std::string_view> fault() const;
};

}  // namespace nearcast
