#include <algorithm>
#include <cmath>
#include <limits>

#include "nearcast/index/papers/ap_plus_tree/moving_tree.h"
#include "nearcast/index/papers/ap_tree/routing.h"

namespace nearcast::ap {

// ---- messages of nodes that change --------------------------------------------------------------

void MovingTree::clearing(NodeRef node) {
  for (const Number list : {own(node), parked(node)}) {
    lists_.copy_to(carried_, list);
    lists_.clear(list);
  }
  if (node < tried_.size()) tried_[node] = 0;
  if (node < passed_.size()) passed_[node] = 0;
  if (nodes_[node].kind != NodeKind::kLeaf) return;
  for_each_posting(nodes_[node],
                   [&](const Posting& posting) { homes_[posting.entry].remove(node); });
}

void MovingTree::leaf_written(NodeRef leaf) {
  for_each_posting(nodes_[leaf],
                   [&](const Posting& posting) { posting_added(leaf, posting.entry); });
}

void MovingTree::posting_added(NodeRef leaf, EntryId entry) {
  if (!homes_.has(entry)) homes_.set(entry, {});
  homes_[entry].add(leaf);
}

/// Whatever lies wholly in a node's space comes to this child of its parent and to no other.
void MovingTree::note_seat(NodeRef parent, std::uint32_t slot) {
  const Node& node = nodes_[parent];
  const NodeRef made = child(node, slot);
  if (seats_.size() <= made) seats_.resize(made + 1);
  Rect space = seats_[parent].space;
  if (node.kind == NodeKind::kSpatial && slot == node.dummy()) space = kNowhere;
  if (node.kind == NodeKind::kSpatial && !is_empty(space)) {
    constexpr double kBelow = -std::numeric_limits<double>::infinity();
    const GridView cells = grid(node);
    const std::uint32_t column = slot % node.grid.columns, row = slot / node.grid.columns;
    if (column > 0) space.west = cells.x[column - 1];
    if (row > 0) space.south = cells.y[row - 1];
    // What lies on a line is behind it.
    if (column < cells.x.size()) space.east = std::nextafter(cells.x[column], kBelow);
    if (row < cells.y.size()) space.north = std::nextafter(cells.y[row], kBelow);
  }
  seats_[made] = {space, slot};
}

void MovingTree::made(const Site& site) {
  constexpr std::size_t kLeastBudget = 4;
  keep_each_once(carried_, 0);
  const Path path = path_to(site.node);
  is_carrying_ = true;
  for (const MessageId id : carried_) {
    const Message message = lists_.messages().message(id);
    read_positions(message.tokens, message_positions_);
    const std::size_t elsewhere = std::min<std::size_t>(lists_.copies(id), max_copies_);
    pass(site.node, first_token_at(path, message_positions_),
         {id, message_positions_, message.place, nullptr},
         std::max(kLeastBudget, max_copies_ - elsewhere));
  }
  is_carrying_ = false;
  carried_.clear();
}

void MovingTree::child_made(NodeRef parent, std::uint32_t slot) {
  const Node node = nodes_[parent];
  note_seat(parent, slot);
  if (slot != node.dummy()) return;  // messages would have made it
  std::vector<MessageId> all;
  for (std::uint32_t other = 0; other < slot; ++other) {
    if (child(node, other) != kNoNode) gather(child(node, other), all);
  }
  lists_.copy_to(all, parked(parent));
  lists_.clear(parked(parent));
  keep_each_once(all, 0);
  for (const MessageId id : all) lists_.append(own(child(node, slot)), id);
}

void MovingTree::gather(NodeRef ref, std::vector<MessageId>& out) const {
  lists_.copy_to(out, own(ref));
  lists_.copy_to(out, parked(ref));
  const Node& node = nodes_[ref];
  if (node.kind == NodeKind::kLeaf) return;
  for (std::uint32_t slot = 0; slot < node.slots(); ++slot) {
    if (child(node, slot) != kNoNode) gather(child(node, slot), out);
  }
}

bool MovingTree::is_light(NodeRef ref) {
  if (copies_below(ref, options_.max_rebuild) <= options_.max_rebuild) return true;
  const bool is_known = refused_ < nodes_.size() && nodes_[refused_].kind != NodeKind::kFree;
  if (!is_known || nodes_[refused_].weight < nodes_[ref].weight) refused_ = ref;
  return false;
}

/// Stops counting when there are more than `enough`.
std::size_t MovingTree::copies_below(NodeRef ref, std::size_t enough) const {
  std::size_t copies = lists_.view(own(ref)).size() + lists_.view(parked(ref)).size();
  const Node& node = nodes_[ref];
  if (node.kind == NodeKind::kLeaf) return copies;
  for (std::uint32_t slot = 0; slot < node.slots() && copies <= enough; ++slot) {
    const NodeRef below = child(node, slot);
    if (below != kNoNode) copies += copies_below(below, enough - copies);
  }
  return copies;
}

// ---- messages in the cost model -----------------------------------------------------------------

ApTree::Evidence MovingTree::evidence(const Site& site, std::size_t entries) {
  constexpr std::size_t kFew = 64, kLeast = 1024, kMost = 20000;
  keep_each_once(carried_, 0);
  if (carried_.size() < kFew) return ApTree::evidence(site, entries);
  const std::size_t step = carried_.size() / std::clamp(4 * entries, kLeast, kMost) + 1;
  MessageSample sample;
  sample.offsets.push_back(0);
  for (std::size_t i = 0; i < carried_.size(); i += step) {
    const TokenSpan tokens = lists_.messages().tokens(carried_[i]);
    sample.tokens.insert(sample.tokens.end(), tokens.begin(), tokens.end());
    sample.offsets.push_back(sample.tokens.size());
    sample.places.push_back(lists_.messages().place(carried_[i]));
  }
  kept_sample_.learn(sample, order_);
  Evidence evidence{&kept_sample_, {}, static_cast<double>(step)};
  const Path path = path_to(site.node);
  for (std::uint32_t i = 0; i < kept_sample_.size(); ++i) {
    evidence.visits.push_back({i, first_token_at(path, kept_sample_.positions(i))});
  }
  return evidence;
}

double MovingTree::grid_penalty(const Site& site, std::span<const Item> items,
                                const GridPlan& plan) const {
  constexpr std::size_t kLooks = 1024;
  if (!motion_.is_seen() || plan.view().cells() < 2) return 0;
  std::vector<Mover> movers;
  const std::size_t step = items.size() / kLooks + 1;
  for (std::size_t i = 0; i < items.size(); i += step) {
    const Rect& box = items[i].box;
    movers.push_back({{(box.west + box.east) / 2, (box.south + box.north) / 2},
                      motion_.step(store_.owner(items[i].entry))});
  }
  const auto entries = static_cast<double>(items.size());
  const double per_round =
      moving_cost(movers, plan.region,
                  {static_cast<double>(plan.view().cells()), site.depth + 1.0, entries,
                   std::min(entries, static_cast<double>(order_.size())),
                   static_cast<double>(options_.max_leaf_size), options_.kl_threshold});
  const double compared =
      motion_.messages_per_round(nodes_[kRoot].weight) + static_cast<double>(kept_);
  return update_cost_ * per_round / std::max(1.0, compared);
}

bool MovingTree::is_small(const Site& site, std::size_t entries, double messages) const {
  // A large area that is inserted later is copied at each grid on its path, so the number of copies
  // has to be bounded.
  constexpr unsigned kMaxDepthOfFew = 8;
  if (entries > options_.max_leaf_size) return false;
  if (site.depth >= kMaxDepthOfFew) return true;
  return static_cast<double>(entries) * messages <= max_load_ &&
         messages <= static_cast<double>(options_.max_rebuild / 2);
}

bool MovingTree::pays_by_keyword(std::size_t entries, double messages, double cost) const {
  if (ApTree::pays_by_keyword(entries, messages, cost)) return true;
  const auto all = static_cast<double>(entries);
  const double saved = (all - cost) * messages;
  return saved > max_load_ / 2 || saved > all * static_cast<double>(options_.max_rebuild / 4);
}

/// A quarter of the load that a leaf may have for each child, as with entries.
std::size_t MovingTree::fan_out(std::size_t most, std::size_t entries, double messages) const {
  const double by_load = 4 * static_cast<double>(entries) * messages / max_load_;
  return std::max(ApTree::fan_out(most, entries, messages),
                  static_cast<std::size_t>(std::min(by_load, static_cast<double>(most))));
}

}  // namespace nearcast::ap
