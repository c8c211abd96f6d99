#include "nearcast/topk/search/ir_tree/ir_tree_search.h"

#include <algorithm>
#include <cmath>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

EntryId entry_of(MessageId id) { return EntryId{raw(id)}; }

/// A bound and a score are summed in different orders; one unit is far more than the difference.
Units bound_of(double score) { return std::ceil(score * 1e9) + 1; }

Rect box_of(Point at) { return {at.lon, at.lat, at.lon, at.lat}; }

}  // namespace

IrTreeSearch::IrTreeSearch(const TopState& state, const TopTuning& tuning)
    : MessageSearch(state),
      limits_{tuning.ir_tree_children / 2, tuning.ir_tree_children},
      tree_(std::make_unique<Tree>(limits_, state)) {}

void IrTreeSearch::insert(MessageId id) {
  tree_->insert(entry_of(id), box_of(state_.messages.centre(id)));
}

void IrTreeSearch::erase(MessageId id, bool) { tree_->erase(entry_of(id)); }

void IrTreeSearch::clear() { tree_ = std::make_unique<Tree>(limits_, state_); }

void IrTreeSearch::best(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
                        WorkCounters& work) {
  if (tree_->size() == 0 || count == 0) return;
  start_query(id);
  const auto better = [&](const Held& a, const Held& b) { return is_better(a, b); };
  const auto promises_less = [](const Waiting& a, const Waiting& b) { return a.bound < b.bound; };
  waiting_.assign(1, {-kLowestUnits, tree_->nodes().root()});
  while (!waiting_.empty()) {
    std::pop_heap(waiting_.begin(), waiting_.end(), promises_less);
    const Waiting next = waiting_.back();
    waiting_.pop_back();
    // An equal score may still win: of equals the newer is better.
    const Units level = out.size() < count ? floor : std::max(floor, out.front().units);
    if (next.bound < level) break;
    ++work.nodes_visited;
    if (tree_->nodes().is_leaf(next.node)) {
      visit_messages(id, next.node, count, floor, out, work);
    } else {
      visit_children(next, level, work);
    }
  }
  std::sort_heap(out.begin(), out.end(), better);
}

void IrTreeSearch::start_query(SubscriptionId id) {
  const TopSubscriptions::Record& record = state_.subscriptions[id];
  at_ = record.at;
  alpha_ = record.alpha;
  terms_.clear();
  for (const Token token : state_.subscriptions.tokens(id))
    terms_.push_back({key_of(token), (*state_.weights)[token] / record.length});
}

double IrTreeSearch::nearness(const Rect& box) const {
  const Point nearest{std::clamp(at_.lon, box.west, box.east),
                      std::clamp(at_.lat, box.south, box.north)};
  return 1 - distance_between(at_, nearest) / state_.max_distance;
}

/// The largest text similarity below a node; 0: no message there shares a keyword.
double IrTreeSearch::text_below(RNodeId node) const {
  double sum = 0, squares = 0;
  for (const Term& term : terms_) {
    const double weight = tree_->summary().weight(node, term.key);
    if (weight == 0) continue;
    sum += term.text * weight;
    squares += term.text * term.text;
  }
  // No unit vector gives more than this, however its weight is distributed over these tokens.
  return std::min(sum, std::sqrt(squares));
}

void IrTreeSearch::visit_children(const Waiting& visited, Units level, WorkCounters&) {
  const auto promises_less = [](const Waiting& a, const Waiting& b) { return a.bound < b.bound; };
  const RTreeNodes& nodes = tree_->nodes();
  const std::span<const Rect> boxes = nodes.boxes(visited.node);
  for (std::uint32_t slot = 0; slot < boxes.size(); ++slot)
    tree_->summary().prefetch(nodes.child(visited.node, slot));
  for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
    const double near = alpha_ * nearness(boxes[slot]);
    if (bound_of(near + (1 - alpha_)) < level) continue;
    const RNodeId child = nodes.child(visited.node, slot);
    const double text = text_below(child);
    if (text == 0) continue;
    const Units bound = bound_of(near + (1 - alpha_) * text);
    if (bound < level) continue;
    waiting_.push_back({bound, child});
    std::push_heap(waiting_.begin(), waiting_.end(), promises_less);
  }
}

void IrTreeSearch::visit_messages(SubscriptionId id, RNodeId leaf, std::size_t count, Units floor,
                                  std::vector<Held>& out, WorkCounters& work) {
  const auto better = [&](const Held& a, const Held& b) { return is_better(a, b); };
  const RTreeNodes& nodes = tree_->nodes();
  const std::span<const Rect> boxes = nodes.boxes(leaf);
  const double text = leaf == nodes.root() ? 1 : text_below(leaf);
  for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
    const Units level = out.size() < count ? floor : std::max(floor, out.front().units);
    if (bound_of(alpha_ * nearness(boxes[slot]) + (1 - alpha_) * text) < level) continue;
    ++work.candidates;
    const MessageId message{raw(nodes.entry(leaf, slot))};
    const double product = state_.product(id, message);
    if (product == 0) continue;
    const Held held{units_of(state_.score(id, message, product)), message};
    if (held.units < floor) continue;
    if (out.size() == count) {
      if (!is_better(held, out.front())) continue;
      std::pop_heap(out.begin(), out.end(), better);
      out.pop_back();
    }
    out.push_back(held);
    std::push_heap(out.begin(), out.end(), better);
  }
}

void IrTreeSearch::check_invariants() const {
  tree_->check_invariants();
  std::size_t expected = 0;
  state_.messages.for_each_by_age(
      [&](MessageId id) { expected += state_.backlog.has(id) ? 0 : 1; });
  ensure(tree_->size() == expected, "IR-tree: holds more or fewer than are live");
  tree_->summary().check_invariants(tree_->nodes());
}

}  // namespace nearcast
