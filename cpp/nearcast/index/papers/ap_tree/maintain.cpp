#include <algorithm>
#include <cmath>

#include "nearcast/base/errors.h"
#include "nearcast/index/papers/ap_tree/routing.h"

namespace nearcast {

using ap::Item;
using ap::kNoNode;
using ap::kRoot;
using ap::Node;
using ap::NodeKind;

namespace {

// A node that was made with children of this share of a full leaf has full leaves, and so begins to
// split, when it has four times its weight.
constexpr std::size_t kLeafShare = 4;
// Updates between two computations of a node's divergence: this part of its weight, but not fewer
// than this number.
constexpr std::uint32_t kLookShare = 4, kMinLook = 16;
// A node that keeps messages is joined only when this small a part of its entries is left, because
// the messages would have to move.
constexpr std::uint32_t kEmptied = 8;

}  // namespace

/// Children for a node of this many entries: a full leaf's quarter each, so that a small node does
/// not fall apart into leaves of one.
std::size_t ApTree::fan_out(std::size_t most, std::size_t entries, double /*messages*/) const {
  const std::size_t share = std::max<std::size_t>(1, options_.max_leaf_size / kLeafShare);
  return std::clamp<std::size_t>(entries / share, 2, most);
}

void ApTree::insert(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    // Before the positions are read: making the root again changes the order.
    if (must_remake(kRoot)) remake_all(entries_below(kRoot));
    item_positions_.clear();
    add(kRootSite, read_item(entry, item_positions_));
  });
}

void ApTree::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    if (must_remake(kRoot)) remake_all(entries_below(kRoot));
    item_positions_.clear();
    remove(kRootSite, read_item(entry, item_positions_));
  });
}

void ApTree::add(const Site& site, const Item& item) {
  if (site.node != kRoot && must_remake(site.node)) remake(site);
  ++nodes_[site.node].weight;
  ++nodes_[site.node].updates;
  const Node node = nodes_[site.node];
  if (node.kind == NodeKind::kLeaf) {
    add_posting(site, item.entry);
    return;
  }
  const Position keyword = keyword_at(&item_positions_[item.positions], node.offset);
  for_each_slot(node, item.box, keyword, [&](std::uint32_t slot) {
    const bool in_cut = node.kind == NodeKind::kKeyword && slot != node.dummy();
    if (in_cut && !options_.keeps_messages) stretch_cut(node, slot, keyword);
    if (child(node, slot) == kNoNode) new_child(site.node, slot);
    add(child_site(site, slot), item);
  });
}

void ApTree::add_posting(const Site& site, EntryId entry) {
  Node& leaf = nodes_[site.node];
  postings_.insert(leaf.postings, posting(entry));
  posting_added(site.node, entry);
  const std::size_t enough = std::max<std::size_t>(options_.max_leaf_size, leaf.made_weight);
  if (leaf.weight <= enough || !(leaf.cuts_keywords || leaf.cuts_space)) return;
  // A leaf this heavy could not be divided when it was lighter.
  if (leaf.weight <= options_.max_rebuild && is_light(site.node)) remake(site);
}

void ApTree::stretch_cut(const Node& node, std::uint32_t cut, Position keyword) {
  std::uint32_t& lower = *words_.at(node.cuts.words + cut);
  std::uint32_t& upper = *words_.at(node.cuts.words + node.cuts.count + cut);
  lower = std::min(lower, keyword);  // only of the first cut
  upper = std::max(upper, keyword);
}

void ApTree::remove(const Site& site, const Item& item) {
  if (nodes_[site.node].kind != NodeKind::kLeaf) {
    if (!options_.keeps_messages && nodes_[site.node].weight <= options_.max_leaf_size) {
      collapse(site.node);  // below θ_p without the item
    } else if (site.node != kRoot && must_remake(site.node)) {
      remake(site);
    }
  }
  --nodes_[site.node].weight;
  ++nodes_[site.node].updates;
  const Node node = nodes_[site.node];
  if (node.kind == NodeKind::kLeaf) {
    remove_posting(site.node, item.entry);
    return;
  }
  const Position keyword = keyword_at(&item_positions_[item.positions], node.offset);
  for_each_slot(node, item.box, keyword, [&](std::uint32_t slot) {
    const NodeRef below = child(node, slot);
    ensure(below != kNoNode, "ap-tree: an entry to erase is not where it should be");
    remove(child_site(site, slot), item);
    if (nodes_[below].weight == 0 && !options_.keeps_messages) drop_child(site.node, slot);
  });
}

void ApTree::remove_posting(NodeRef ref, EntryId entry) {
  Node& leaf = nodes_[ref];
  const bool was_there = postings_.erase(leaf.postings, raw(entry));
  ensure(was_there, "ap-tree: an entry to erase is not in its leaf");
  posting_removed(ref, entry);
  if (leaf.weight * 4 < leaf.made_weight) leaf.made_weight = 0;  // what is left may be divisible
}

void ApTree::collapse(NodeRef node) {
  const std::vector<EntryId> entries = entries_below(node);
  clear(node);
  write_leaf(node, entries);
}

std::vector<EntryId> ApTree::entries_below(NodeRef ref) const {
  std::vector<EntryId> entries;
  std::vector<NodeRef> open{ref};
  while (!open.empty()) {
    const Node& node = nodes_[open.back()];
    open.pop_back();
    if (node.kind == NodeKind::kLeaf) {
      for_each_posting(node, [&](const ap::Posting& each) { entries.push_back(each.entry); });
      continue;
    }
    for (std::uint32_t slot = 0; slot < node.slots(); ++slot) {
      if (child(node, slot) != kNoNode) open.push_back(child(node, slot));
    }
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

/// Should the node be made again before the next update? [AP §3.3.5, §5.1.3]
bool ApTree::is_due(const Node& node) const {
  if (!options_.rebuilds || node.kind == NodeKind::kLeaf) return false;
  const std::size_t most =
      node.kind == NodeKind::kKeyword ? options_.max_cuts : options_.max_children;
  const bool was_small = fan_out(most, node.made_weight, 0) < most;
  if (was_small && node.weight >= kLeafShare * node.made_weight) return true;
  if (options_.keeps_messages && node.made_weight >= kMinLook &&
      node.weight * kEmptied <= node.made_weight) {
    return true;
  }
  const std::uint32_t look = std::max(kMinLook, node.made_weight / kLookShare);
  if (node.updates == 0 || node.updates % look != 0) return false;
  if (node.weight < options_.min_rebuild_share * nodes_[kRoot].weight) return false;
  // Under an unchanged workload each share moves by chance; their divergence is then about half of
  // this.
  const double chance = static_cast<double>(node.slots()) * node.updates /
                        (static_cast<double>(node.weight) * node.made_weight);
  return divergence(node) > options_.kl_threshold + chance;
}

bool ApTree::must_remake(NodeRef ref) {
  if (!is_due(nodes_[ref])) return false;
  if (nodes_[ref].weight <= options_.max_rebuild) return is_light(ref);
  wants_successor_ = true;
  return false;
}

SubscriptionId ApTree::any(std::uint64_t& random) const {
  const auto below = [&](std::uint64_t count) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    return (random >> 33) % count;
  };
  NodeRef ref = kRoot;
  while (nodes_[ref].kind != NodeKind::kLeaf) {
    const Node& node = nodes_[ref];
    std::uint64_t all = 0;  // an entry in several children counts in each
    for (std::uint32_t slot = 0; slot < node.slots(); ++slot)
      all += nodes_[child(node, slot)].weight;
    std::uint64_t chosen = below(all);
    std::uint32_t slot = 0;
    for (; chosen >= nodes_[child(node, slot)].weight; ++slot) {
      chosen -= nodes_[child(node, slot)].weight;
    }
    ref = child(node, slot);
  }
  return store_.owner(postings_.any(nodes_[ref].postings, below(1u << 31)).entry);
}

void ApTree::succeed(ApTree& old) {
  old.options_.rebuilds = false;
  std::swap(sample_, old.sample_);
  sample_.reorder(order_);
}

/// D_KL(w_old | w) over the children's shares. Half an entry more in each keeps it finite.
double ApTree::divergence(const Node& node) const {
  const auto old_weight = [&](std::uint32_t slot) {
    return *words_.at(node.made_weights_at() + slot) + 0.5;
  };
  const auto weight = [&](std::uint32_t slot) { return nodes_[child(node, slot)].weight + 0.5; };
  double old_total = 0, total = 0;
  for (std::uint32_t slot = 0; slot < node.slots(); ++slot) {
    old_total += old_weight(slot);
    total += weight(slot);
  }
  double divergence = 0;
  for (std::uint32_t slot = 0; slot < node.slots(); ++slot) {
    const double old_share = old_weight(slot) / old_total;
    divergence += old_share * std::log(old_share / (weight(slot) / total));
  }
  return divergence;
}

}  // namespace nearcast
