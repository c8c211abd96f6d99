#include <algorithm>
#include <numeric>

#include "nearcast/index/papers/ap_tree/builder.h"
#include "nearcast/index/papers/ap_tree/routing.h"

namespace nearcast {

using ap::Item;
using ap::Node;
using ap::Visit;

/// `copies`: of each item, through the grids above.
void ApTree::Builder::grow(const Site& site, Range items, Range visits, double copies) {
  const bool is_small = tree_.is_small(site, items.size(), kept(visits)) || site.depth >= kMaxDepth;
  if (is_small || !partition(site, items, visits, copies)) {
    write_leaf(site.node, items);
    return;
  }
  const std::size_t item_top = items_.size(), visit_top = visits_.size();
  const std::vector<Range> item_shares = scatter_items(site.node, items);
  const std::vector<Range> visit_shares = scatter_visits(site.node, visits);
  tree_.nodes_[site.node].weight = static_cast<std::uint32_t>(items.size());
  tree_.nodes_[site.node].made_weight = static_cast<std::uint32_t>(items.size());
  for (std::uint32_t slot = 0; slot < item_shares.size(); ++slot) {
    *tree_.words_.at(tree_.nodes_[site.node].made_weights_at() + slot) =
        static_cast<std::uint32_t>(item_shares[slot].size());
  }
  copies *= copies_through(tree_.nodes_[site.node]);
  for (std::uint32_t slot = 0; slot < item_shares.size(); ++slot) {
    if (item_shares[slot].size() == 0) continue;
    tree_.new_child(site.node, slot);
    grow(tree_.child_site(site, slot), item_shares[slot], visit_shares[slot], copies);
  }
  items_.resize(item_top);
  visits_.resize(visit_top);
}

double ApTree::Builder::copies_above(NodeRef ref) const {
  double copies = 1;
  for (NodeRef above = tree_.nodes_[ref].parent; above != ap::kNoNode;
       above = tree_.nodes_[above].parent) {
    copies *= copies_through(tree_.nodes_[above]);
  }
  return copies;
}

double ApTree::Builder::copies_through(const Node& node) const {
  const std::uint32_t* weights = tree_.words_.at(node.made_weights_at());
  return std::accumulate(weights, weights + node.slots(), 0.0) / node.made_weight;
}

void ApTree::Builder::write_leaf(NodeRef node, Range items) {
  std::vector<EntryId> entries;
  entries.reserve(items.size());
  for (std::size_t i = items.begin; i < items.end; ++i) entries.push_back(items_[i].entry);
  tree_.write_leaf(node, entries);
}

/// Counts how much each slot gets, then copies it there, slot by slot.
template <typename T, typename ForEach>
std::vector<ApTree::Builder::Range> ApTree::Builder::scatter(std::vector<T>& stack, Range from,
                                                             std::size_t slots,
                                                             ForEach&& for_each) {
  std::vector<Range> shares(slots, Range{0, 0});
  for (std::size_t i = from.begin; i < from.end; ++i) {
    for_each(stack[i], [&](std::uint32_t slot, const T&) { ++shares[slot].end; });
  }
  std::size_t top = stack.size();
  for (Range& share : shares) {
    const std::size_t count = share.end;
    share = {top, top};
    top += count;
  }
  stack.resize(top);
  for (std::size_t i = from.begin; i < from.end; ++i) {
    for_each(stack[i],
             [&](std::uint32_t slot, const T& copy) { stack[shares[slot].end++] = copy; });
  }
  return shares;
}

std::vector<ApTree::Builder::Range> ApTree::Builder::scatter_items(NodeRef ref, Range items) {
  const Node node = tree_.nodes_[ref];
  return scatter(items_, items, node.slots(), [&](const Item& item, auto&& put) {
    tree_.for_each_slot(node, item.box, keyword_at(&positions_[item.positions], node.offset),
                        [&](std::uint32_t slot) { put(slot, item); });
  });
}

std::vector<ApTree::Builder::Range> ApTree::Builder::scatter_visits(NodeRef ref, Range visits) {
  const Node node = tree_.nodes_[ref];
  return scatter(visits_, visits, node.slots(), [&](const Visit& visit, auto&& put) {
    tree_.for_each_hit(node, sample_.positions(visit.message), sample_.place(visit.message),
                       visit.first_token, [&](std::uint32_t slot, std::uint32_t first_token) {
                         put(slot, Visit{visit.message, first_token});
                       });
  });
}

std::vector<Visit> ApTree::sample_at(NodeRef ref) const {
  std::vector<Visit> visits;
  if (ref == ap::kRoot) {
    for (std::uint32_t i = 0; i < sample_.size(); ++i) visits.push_back({i, 0});
    return visits;
  }
  const Node& above = nodes_[nodes_[ref].parent];
  for (const Visit& visit : sample_at(nodes_[ref].parent)) {
    for_each_hit(above, sample_.positions(visit.message), sample_.place(visit.message),
                 visit.first_token, [&](std::uint32_t slot, std::uint32_t first_token) {
                   if (child(above, slot) == ref) visits.push_back({visit.message, first_token});
                 });
  }
  return visits;
}

ApTree::Evidence ApTree::evidence(const Site& site, std::size_t entries) {
  // The sample has to go down from the root to this node: only a heavy node is worth that.
  const bool asks_sample = site.node == ap::kRoot || entries * 16 >= sample_.size();
  return {&sample_, asks_sample ? sample_at(site.node) : std::vector<Visit>{}};
}

void ApTree::remake(const Site& site) {
  const std::vector<EntryId> entries = entries_below(site.node);
  clear(site.node);
  Builder(*this, evidence(site, entries.size())).grow(site, entries);
  made(site);
}

void ApTree::remake_all(std::vector<EntryId> entries) {
  std::vector<std::uint32_t> counts;
  for (const EntryId entry : entries) {
    for (const Token token : store_.clause(entry).positive) {
      if (counts.size() <= raw(token)) counts.resize(raw(token) + 1);
      ++counts[raw(token)];
    }
  }
  order_.order_by(counts, options_.first);
  sample_.reorder(order_);
  clear(ap::kRoot);
  Builder(*this, evidence(kRootSite, entries.size())).grow(kRootSite, entries);
  made(kRootSite);
}

void ApTree::build(std::span<const SubscriptionId> ids) {
  // Fewer than half as many as there are already are inserted one by one.
  if (ids.size() * 2 < nodes_[ap::kRoot].weight) {
    for (const SubscriptionId id : ids) insert(id);
    return;
  }
  std::vector<EntryId> entries = entries_below(ap::kRoot);
  for (const SubscriptionId id : ids) {
    store_.for_each_entry(id, [&](EntryId entry) { entries.push_back(entry); });
  }
  remake_all(std::move(entries));
}

}  // namespace nearcast
