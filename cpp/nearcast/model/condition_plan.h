/// How a subscription is filed: under clauses that an index can look for, and with a condition that
/// decides the rest.
///
/// Clauses are a *cover* of what is asked for: each message that satisfies it satisfies one of
/// them. Of an AND one part is enough for a cover, and the words of the AND come along; of an OR
/// all parts are needed. The cover with the fewest and rarest alternatives is taken: nothing is
/// multiplied out, and no cover has more clauses than there are tests. A range of numbers is
/// covered by cells (model/cells.h), which is worth it where all words are frequent, unless the index
/// files by ranges itself.
///
/// What can be true without any word or term is filed under one clause that always holds. Where
/// the clauses decide, there is no condition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nearcast/model/condition_tree.h"
#include "nearcast/model/subscription.h"
#include "nearcast/model/term_registry.h"

namespace nearcast {

/// What a subscription asks for beside its area.
struct Wish {
  std::span<const std::string_view> plain;  ///< words that are all wanted
  const Expression* keywords = nullptr;     ///< more of them; without a fault
  const Expression* where = nullptr;
  bool words_only = false;  ///< file it under words, not under terms
  bool is_filed = true;     ///< false: no clauses are wanted, the condition decides everything
  std::size_t unfiled = 0;  ///< subscriptions that are filed under no word
  bool has_area = false;
  bool files_ranges = false;  ///< the index files by the ranges of the outermost AND itself
};

class ConditionPlan {
 public:
  /// An alternative counts as much as so many uses of a word.
  static constexpr std::uint64_t kAlternative = 64;
  /// More words that all alternatives share are not written with each of them.
  static constexpr std::size_t kMostShared = 16;
  static constexpr std::size_t kMostForbidden = 256;  ///< more are left to the condition

  ConditionPlan(const Wish& wish, Vocabulary& words);
  /// Ends the uses of words that the plan has, unless it is kept.
  ~ConditionPlan();
  ConditionPlan(const ConditionPlan&) = delete;
  ConditionPlan& operator=(const ConditionPlan&) = delete;

  std::span<const Clause> clauses() const { return clauses_; }  ///< none: it is never true
  ProgramView program() const { return program_; }              ///< empty: the clauses decide
  /// From now on each token of each clause, and each of the program, is a use of its word that the
  /// owner ends.
  void keep(TermRegistry& terms);

 private:
  struct Alternative {
    std::vector<Token> plus, minus;
    std::string_view name;  ///< of the cell, if it has one
    Cell cell{};
    std::uint64_t uses = 0;  ///< of its rarest
  };
  struct Cover {
    std::uint64_t cost = kNoCover;
    bool is_exact = false;
    bool has_words = false;  ///< is a word or a term other than a cell in each?
    std::vector<Alternative> alternatives{};
  };
  /// What an AND brings to the covers of its parts.
  struct Shared {
    std::vector<Token> plus, minus;
    std::uint64_t uses = kNoCover;  ///< of the rarest
    std::size_t others = 0;         ///< parts that are no tokens
  };
  static constexpr std::uint64_t kNoCover = std::uint64_t{1} << 62;

  Cover cover_of(const ConditionTree::Node& node);
  Cover cover_of_and(const ConditionTree::Node& node);
  Cover cover_of_or(const ConditionTree::Node& node);
  Cover cover_of_phrase(const ConditionTree::Node& node) const;
  bool is_filed_by_index(const ConditionTree::Node& node) const {
    return files_ranges_ && &node == &tree_[ConditionTree::kRoot];
  }
  Cover cover_of_range(std::string_view name, double low, double high);
  void consider_ranges(const ConditionTree::Node& node, const Shared& shared, Cover& best);
  void consider(Cover&& other, const Shared& shared, Cover& best) const;
  Shared shared_by(const ConditionTree::Node& node) const;
  static void join(Cover& cover, const Shared& shared);
  bool can_file(const ConditionTree::Node& node) const {
    return node.kind == ConditionTree::Kind::kToken && !(words_only_ && node.is_term);
  }
  std::uint64_t uses(Token token) const { return words_.uses(token); }
  void file(Cover&& cover);
  void write(const Cover& cover);

  Vocabulary& words_;
  bool words_only_, files_ranges_;
  ConditionTree tree_;
  TermWords term_words_;
  std::vector<Cover> covers_;  ///< by node, until its group takes it
  std::vector<std::vector<Token>> tokens_;
  std::vector<Clause> clauses_;
  std::vector<std::uint32_t> program_;
  bool is_kept_ = false;
};

}  // namespace nearcast
