/// Keywords and `where` as one tree, in which NOT stands at the tests alone and no AND is in an
/// AND, nor an OR in an OR.
///
/// The tree holds a use of each word and term in it, until it is gone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nearcast/model/condition_program.h"
#include "nearcast/model/expression.h"
#include "nearcast/model/term_words.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

class ConditionTree {
 public:
  enum class Kind : std::uint8_t { kAnd, kOr, kToken, kPhrase, kNumber };

  struct Node {
    Kind kind = Kind::kToken;
    bool is_negated = false;
    bool is_term = false;  ///< of a token: not a word
    Comparison comparison = Comparison::kEqual;
    Token token{};                       ///< of a number, its name's
    double value = 0;                    ///< of a number
    std::string_view name;               ///< of a number
    std::vector<std::uint32_t> parts{};  ///< of a group, its nodes; of a phrase, its tokens
  };
  static constexpr std::uint32_t kRoot = 0;  ///< an AND, which may be empty

  explicit ConditionTree(Vocabulary& words) : words_(words) {
    nodes_.emplace_back().kind = Kind::kAnd;
  }
  ~ConditionTree() { words_.release_all(pins_); }
  ConditionTree(const ConditionTree&) = delete;
  ConditionTree& operator=(const ConditionTree&) = delete;

  void require(std::span<const std::string_view> plain) {  ///< all of these words, too
    for (const std::string_view word : plain) add_token(kRoot, word, false, false);
  }
  void require(const Expression& expression);  ///< without a fault

  /// The parts of a node have higher numbers than the node.
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& operator[](std::uint32_t node) const { return nodes_[node]; }

  /// Appends the program of a group of these parts.
  void write_program(std::span<const std::uint32_t> parts, std::vector<std::uint32_t>& out) const;

 private:
  std::uint32_t group(std::uint32_t parent, Kind kind);
  std::uint32_t add(std::uint32_t parent, Node node);
  Token pin(std::string_view word);
  void add_token(std::uint32_t parent, std::string_view word, bool is_term, bool is_negated);
  void add_test(std::uint32_t parent, const ExpressionNode& test, bool is_negated);
  void add_phrase(std::uint32_t parent, const ExpressionNode& test, bool is_negated);
  void add_comparison(std::uint32_t parent, const ExpressionNode& test, bool is_negated);
  void write_test(const Node& node, std::vector<std::uint32_t>& out) const;
  void write(std::uint32_t root, std::vector<std::uint32_t>& out) const;

  Vocabulary& words_;
  TermWords term_words_;
  std::vector<Node> nodes_;
  std::vector<Token> pins_;
};

}  // namespace nearcast
