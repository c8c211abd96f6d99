#include "nearcast/model/condition_plan.h"

#include <algorithm>
#include <limits>

#include "nearcast/model/cells.h"

namespace nearcast {

using Kind = ConditionTree::Kind;

ConditionPlan::ConditionPlan(const Wish& wish, Vocabulary& words)
    : words_(words), words_only_(wish.words_only), files_ranges_(wish.files_ranges), tree_(words) {
  tree_.require(wish.plain);
  if (wish.keywords != nullptr) tree_.require(*wish.keywords);
  if (wish.where != nullptr) tree_.require(*wish.where);
  if (!wish.is_filed) {
    write({});
    return;
  }
  const auto& nodes = tree_.nodes();
  covers_.resize(nodes.size());
  for (std::size_t node = nodes.size(); node-- > 0;) covers_[node] = cover_of(nodes[node]);
  Cover cover = std::move(covers_[ConditionTree::kRoot]);
  // Where cells alone would lead to it, the area may be the better way.
  const bool is_area_better =
      wish.has_area && !cover.has_words && cover.cost > kAlternative + wish.unfiled;
  if (cover.cost >= kNoCover || is_area_better) cover = {kNoCover, false, false, {Alternative{}}};
  write(cover);
  file(std::move(cover));
}

ConditionPlan::~ConditionPlan() {
  if (is_kept_) return;
  for (const std::vector<Token>& tokens : tokens_) words_.release_all(tokens);
  for_each_token(program_, [&](Token token) { words_.release(token); });
}

void ConditionPlan::keep(TermRegistry& terms) {
  for (const std::vector<Token>& tokens : tokens_) {
    for (const Token token : tokens) terms.add(words_.word(token));
  }
  for_each_token(program_, [&](Token token) { terms.add(words_.word(token)); });
  for (std::size_t i = phrases_in(program_); i > 0; --i) terms.add_phrase();
  is_kept_ = true;
}

// ---- covers -----------------------------------------------------------------------------------

ConditionPlan::Cover ConditionPlan::cover_of(const ConditionTree::Node& node) {
  switch (node.kind) {
    case Kind::kAnd:
      return cover_of_and(node);
    case Kind::kOr:
      return cover_of_or(node);
    case Kind::kPhrase:
      return cover_of_phrase(node);
    case Kind::kToken: {
      if (node.is_negated || !can_file(node)) return {};
      const std::uint64_t count = uses(node.token);
      return {kAlternative + count, true, true, {{{node.token}, {}, {}, {}, count}}};
    }
    case Kind::kNumber:
      break;
  }
  constexpr double kMost = std::numeric_limits<double>::max();
  if (node.is_negated || words_only_) return {};
  return node.comparison == Comparison::kLess || node.comparison == Comparison::kAtMost
             ? cover_of_range(node.name, -kMost, node.value)
             : cover_of_range(node.name, node.value, kMost);
}

ConditionPlan::Cover ConditionPlan::cover_of_phrase(const ConditionTree::Node& node) const {
  if (node.is_negated) return {};
  Alternative all;
  all.uses = kNoCover;
  for (const std::uint32_t token : node.parts) {
    if (Token{token} == kUnknownToken) continue;
    all.plus.push_back(Token{token});
    all.uses = std::min(all.uses, uses(Token{token}));
  }
  return {kAlternative + all.uses, false, true, {std::move(all)}};
}

ConditionPlan::Cover ConditionPlan::cover_of_range(std::string_view name, double low, double high) {
  Cover cover{0, false, false, {}};
  if (low > high) return {0, true, true, {}};  // no number is there
  for (const Cell& cell : cells_of(ordered_key(low), ordered_key(high))) {
    const Token known = words_.find(term_words_.cell(name, cell));
    const std::uint64_t count = known == kUnknownToken ? 0 : uses(known);
    cover.cost += kAlternative + count;
    cover.alternatives.push_back({{}, {}, name, cell, count});
  }
  return cover;
}

ConditionPlan::Cover ConditionPlan::cover_of_or(const ConditionTree::Node& node) {
  Cover all{0, true, true, {}};
  for (const std::uint32_t part : node.parts) {
    Cover& own = covers_[part];
    if (own.cost >= kNoCover) return {};
    all.cost += own.cost;
    all.is_exact &= own.is_exact;
    all.has_words &= own.has_words;
    std::move(own.alternatives.begin(), own.alternatives.end(),
              std::back_inserter(all.alternatives));
  }
  return all;
}

ConditionPlan::Shared ConditionPlan::shared_by(const ConditionTree::Node& node) const {
  Shared shared;
  for (const std::uint32_t part : node.parts) {
    const ConditionTree::Node& test = tree_[part];
    if (!can_file(test)) {
      ++shared.others;
    } else if (test.is_negated) {
      shared.minus.push_back(test.token);
    } else {
      shared.plus.push_back(test.token);
      shared.uses = std::min(shared.uses, uses(test.token));
    }
  }
  return shared;
}

ConditionPlan::Cover ConditionPlan::cover_of_and(const ConditionTree::Node& node) {
  const Shared shared = shared_by(node);
  Cover best;
  if (!shared.plus.empty()) {
    best = {kAlternative + shared.uses, shared.others == 0, true, {Alternative{}}};
    best.alternatives[0].uses = shared.uses;
  }
  if (shared.others != 0) {
    for (const std::uint32_t part : node.parts) {
      const Kind kind = tree_[part].kind;
      if (kind != Kind::kToken && kind != Kind::kNumber)
        consider(std::move(covers_[part]), shared, best);
    }
    if (!words_only_ && !is_filed_by_index(node)) consider_ranges(node, shared, best);
  }
  if (best.cost < kNoCover) join(best, shared);
  return best;
}

/// Comparisons of one attribute in an AND are one range.
void ConditionPlan::consider_ranges(const ConditionTree::Node& node, const Shared& shared,
                                    Cover& best) {
  constexpr double kMost = std::numeric_limits<double>::max();
  struct Range {
    std::string_view name;
    double low = -kMost, high = kMost;
  };
  std::vector<Range> ranges;
  for (const std::uint32_t part : node.parts) {
    const ConditionTree::Node& test = tree_[part];
    if (test.kind != Kind::kNumber || test.is_negated) continue;
    auto found = std::find_if(ranges.begin(), ranges.end(),
                              [&](const Range& range) { return range.name == test.name; });
    if (found == ranges.end()) found = ranges.insert(ranges.end(), {test.name});
    if (test.comparison == Comparison::kLess || test.comparison == Comparison::kAtMost) {
      found->high = std::min(found->high, test.value);
    } else {
      found->low = std::max(found->low, test.value);
    }
  }
  for (const Range& range : ranges)
    consider(cover_of_range(range.name, range.low, range.high), shared, best);
}

/// Takes the cover of a part if, with the words of the AND, it is better than the best so far.
void ConditionPlan::consider(Cover&& other, const Shared& shared, Cover& best) const {
  if (other.cost >= kNoCover) return;
  std::uint64_t cost = 0;
  for (Alternative& each : other.alternatives) {
    each.uses = std::min(each.uses, shared.uses);
    cost += kAlternative + each.uses;
  }
  if (cost >= best.cost) return;
  other.cost = cost;
  other.is_exact &= shared.others == 1;
  other.has_words |= !shared.plus.empty();
  best = std::move(other);
}

void ConditionPlan::join(Cover& cover, const Shared& shared) {
  const bool is_one = cover.alternatives.size() <= 1;
  const bool has_room = is_one || shared.plus.size() <= kMostShared;
  const bool can_forbid = shared.minus.size() <= (is_one ? kMostForbidden : kMostShared);
  cover.is_exact &= has_room && can_forbid;
  for (Alternative& each : cover.alternatives) {
    const auto count = static_cast<std::ptrdiff_t>(has_room ? shared.plus.size() : kMostShared);
    each.plus.insert(each.plus.end(), shared.plus.begin(), shared.plus.begin() + count);
    if (can_forbid) each.minus.insert(each.minus.end(), shared.minus.begin(), shared.minus.end());
  }
}

// ---- what is stored ---------------------------------------------------------------------------

/// The program says what the clauses leave open: what the whole AND asks for and each clause has,
/// it need not ask again.
void ConditionPlan::write(const Cover& cover) {
  if (cover.is_exact) return;
  const ConditionTree::Node& root = tree_[ConditionTree::kRoot];
  const bool is_one = cover.alternatives.size() <= 1;
  const Shared shared = shared_by(root);
  const bool is_filed = cover.cost < kNoCover;
  const bool has_plus = is_filed && (is_one || shared.plus.size() <= kMostShared);
  const bool has_minus = is_filed && shared.minus.size() <= (is_one ? kMostForbidden : kMostShared);
  std::vector<std::uint32_t> left;
  for (const std::uint32_t part : root.parts) {
    const ConditionTree::Node& test = tree_[part];
    if (!can_file(test) || !(test.is_negated ? has_minus : has_plus)) left.push_back(part);
  }
  if (left.empty()) return;
  tree_.write_program(left, program_);
  for_each_token(program_, [&](Token token) { words_.hold(token); });
}

void ConditionPlan::file(Cover&& cover) {
  std::vector<std::vector<Token>>& all = tokens_;
  for (Alternative& each : cover.alternatives) {
    sort_unique(each.plus);
    sort_unique(each.minus);
    if (contains_any(each.plus, each.minus)) continue;  // never true
    for (const Token token : each.plus) words_.hold(token);
    for (const Token token : each.minus) words_.hold(token);
    if (!each.name.empty()) {
      each.plus.push_back(words_.intern(term_words_.cell(each.name, each.cell)));
      std::sort(each.plus.begin(), each.plus.end());
    }
    all.push_back(std::move(each.plus));
    all.push_back(std::move(each.minus));
  }
  // The same alternative may be there twice: the first one stays.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); i += 2) order.push_back(i);
  const auto key = [&](std::size_t i) { return std::tie(all[i], all[i + 1]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<std::vector<Token>> distinct;
  for (std::size_t n = 0; n < order.size(); ++n) {
    if (n != 0 && key(order[n]) == key(order[n - 1])) {
      words_.release_all(all[order[n]]);
      words_.release_all(all[order[n] + 1]);
    } else {
      distinct.push_back(all[order[n]]);
      distinct.push_back(all[order[n] + 1]);
    }
  }
  all = std::move(distinct);
  for (std::size_t i = 0; i < all.size(); i += 2) clauses_.push_back({all[i], all[i + 1]});
}

}  // namespace nearcast
