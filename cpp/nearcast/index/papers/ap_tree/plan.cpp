#include <algorithm>

#include "nearcast/index/papers/ap_tree/builder.h"
#include "nearcast/index/papers/ap_tree/routing.h"

namespace nearcast {

using ap::GridPlan;
using ap::KeywordPlan;
using ap::KeywordUse;
using ap::Node;

bool ApTree::Builder::pays(const KeywordPlan& plan, Range items, Range visits) const {
  return !plan.lowers.empty() && tree_.pays_by_keyword(items.size(), kept(visits), plan.cost);
}

/// Makes the node a k-node or an s-node. False: neither pays.
bool ApTree::Builder::partition(const Site& site, Range items, Range visits, double copies) {
  const Node node = tree_.nodes_[site.node];
  KeywordChoice keywords{};
  GridPlan space{};
  bool by_keyword = false, by_space = false;
  if (node.cuts_keywords) {
    keywords = plan_keywords(node, items, visits);
    by_keyword = pays(keywords.plan, items, visits);
  }
  const Priority priority = tree_.options_.priority;
  if (node.cuts_space && !(by_keyword && priority == Priority::kKeyword)) {
    space = plan_space(site, items, visits, std::min(kMaxCopies, kMaxAllCopies / copies));
    space.cost += tree_.grid_penalty(site, {&items_[items.begin], items.size()}, space);
    by_space =
        space.view().cells() > 1 && tree_.pays_by_grid(items.size(), kept(visits), space.cost);
  }
  if (by_keyword && by_space) {
    by_keyword = priority == Priority::kAdaptive && keywords.plan.cost < space.cost;
  }
  if (by_keyword) {
    tree_.write_cuts(site.node, keywords.offset, keywords.plan);
  } else if (by_space) {
    tree_.write_grid(site.node, space);
  }
  return by_keyword || by_space;
}

ApTree::Builder::KeywordChoice ApTree::Builder::plan_keywords(const Node& node, Range items,
                                                              Range visits) const {
  for (std::size_t offset = node.offset;; ++offset) {
    std::vector<KeywordUse> uses = count_keywords(items, offset);
    if (uses.empty()) return {{}, offset};
    std::size_t present = 0;
    for (const KeywordUse& use : uses) present += use.weight;
    estimate(uses, visits);
    KeywordPlan plan = ap::partition_keywords(
        uses, tree_.fan_out(tree_.options_.max_cuts, items.size(), kept(visits)),
        tree_.options_.is_optimal);
    plan.cost += static_cast<double>(items.size() - present);  // the dummy cut
    const bool tells_nothing = uses.size() == 1 && present == items.size();
    if (!tells_nothing || pays(plan, items, visits)) return {std::move(plan), offset};
  }
}

std::vector<KeywordUse> ApTree::Builder::count_keywords(Range items, std::size_t offset) const {
  std::vector<Position> keywords;
  keywords.reserve(items.size());
  for (std::size_t i = items.begin; i < items.end; ++i) {
    const Position keyword = keyword_at(&positions_[items_[i].positions], offset);
    if (keyword != TokenOrder::kUnplaced) keywords.push_back(keyword);
  }
  std::sort(keywords.begin(), keywords.end());
  std::vector<KeywordUse> uses;
  for (const Position keyword : keywords) {
    if (uses.empty() || uses.back().keyword != keyword) uses.push_back({keyword, 0, 0, 0});
    ++uses.back().weight;
  }
  return uses;
}

/// Hit probabilities [AP §3.3.1]: of the messages that come here, how many have the keyword among
/// the tokens they have left? Without messages, the share of the entries that need it.
void ApTree::Builder::estimate(std::vector<KeywordUse>& uses, Range visits) const {
  std::vector<Position> tokens;
  for (std::size_t i = visits.begin; i < visits.end; ++i) {
    const auto positions = sample_.positions(visits_[i].message).subspan(visits_[i].first_token);
    tokens.insert(tokens.end(), positions.begin(), positions.end());
  }
  std::sort(tokens.begin(), tokens.end());
  double present = 0;
  for (const KeywordUse& use : uses) present += use.weight;
  const auto messages = static_cast<double>(visits.size());
  auto from = tokens.begin();
  for (KeywordUse& use : uses) {
    const auto [first, last] = std::equal_range(from, tokens.end(), use.keyword);
    use.gap = ap::smoothed(static_cast<double>(first - from), messages, 0);
    use.probability =
        ap::smoothed(static_cast<double>(last - first), messages, use.weight / present);
    from = last;
  }
}

GridPlan ApTree::Builder::plan_space(const Site& site, Range items, Range visits,
                                     double max_copies) const {
  std::vector<Rect> boxes, messages;
  boxes.reserve(items.size());
  for (std::size_t i = items.begin; i < items.end; ++i) boxes.push_back(items_[i].box);
  for (std::size_t i = visits.begin; i < visits.end; ++i) {
    const Place& place = sample_.place(visits_[i].message);
    messages.insert(messages.end(), place.part, place.part + place.parts);
  }
  return ap::partition_space(boxes, messages, site.space,
                             tree_.fan_out(tree_.options_.max_children, items.size(), kept(visits)),
                             max_copies);
}

}  // namespace nearcast
