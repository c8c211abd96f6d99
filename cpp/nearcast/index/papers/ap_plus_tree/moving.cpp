#include <algorithm>

#include "nearcast/index/papers/ap_plus_tree/moving_tree.h"
#include "nearcast/index/papers/ap_tree/routing.h"

namespace nearcast::ap {

void MovingTree::erase(SubscriptionId id) {
  ++changes_;
  ApTree::erase(id);
  motion_.forget(id);
}

Token MovingTree::rarest(EntryId entry) const {
  Token rarest = kUnknownToken;
  for (const Token token : store_.clause(entry).positive) {
    const bool is_rarer = options_.first == TokenOrder::First::kFrequent
                              ? order_.position(token) > order_.position(rarest)
                              : order_.position(token) < order_.position(rarest);
    if (rarest == kUnknownToken || is_rarer) rarest = token;
  }
  return rarest;
}

template <typename See>
void MovingTree::for_each_node_of(const Site& site, const Item& item,
                                  std::span<const Position> positions, See&& see) const {
  see(site);
  const Node& node = nodes_[site.node];
  if (node.kind == NodeKind::kLeaf) return;
  for_each_slot(
      node, item.box, keyword_at(&positions[item.positions], node.offset),
      [&](std::uint32_t slot) { for_each_node_of(child_site(site, slot), item, positions, see); });
}

void MovingTree::find(SubscriptionId id, std::vector<MessageId>& out) const {
  const std::size_t first = out.size();
  std::vector<Position> positions;
  store_.for_each_entry(id, [&](EntryId entry) {
    read_positions(store_.clause(entry).positive, positions);
    positions.push_back(TokenOrder::kUnplaced);
    for_each_node_of(kRootSite, {store_.bounds(id), entry, 0}, positions, [&](const Site& site) {
      find_in(store_, entry, lists_, own(site.node), out);
    });
  });
  keep_each_once(out, first);
}

/// [AP Alg. 6]. The old and the new box are followed in one descent as long as they share nodes.
void MovingTree::move(SubscriptionId id, const Area& to, SubscriptionStore& store,
                      MoveJudge& judge) {
  const Rect target = bounds_of(to);
  ++changes_;
  motion_.moved(id, store_.bounds(id), target);
  std::size_t entries = 0;
  EntryId only{};
  store_.for_each_entry(id, [&](EntryId entry) {
    ++entries;
    only = entry;
  });
  if (entries == 1 && shift(only, target, judge)) return store.replace_area(id, to);
  if (must_remake(kRoot)) remake_all(entries_below(kRoot));
  // Nodes may be made again on the way, from what the store says. That holds for one entry which is
  // in the tree by its old area or by its new one, but not for several half moved.
  if (entries == 1) {
    item_positions_.clear();
    Item item = read_item(only, item_positions_);
    stayed_.clear();
    entered_.clear();
    leave(kRootSite, item, target, judge);
    store.replace_area(id, to);
    item.box = target;
    enter(item, judge);
  } else {
    show_all(id, judge);
    ApTree::erase(id);
    store.replace_area(id, to);
    insert(id);
    show_all(id, judge);
  }
}

/// Most moves stay in a leaf: then only the leaf and the lists above it are read.
bool MovingTree::shift(EntryId entry, const Rect& to, const MoveJudge& judge) {
  const Home home = homes_[entry];
  if (home.copies != 1 || !covers(seats_[home.leaves].space, to)) return false;
  const Clause clause = store_.clause(entry);
  for (NodeRef node = home.leaves; node != kNoNode; node = nodes_[node].parent) {
    judge.see(lists_, own(node), clause);
  }
  set_box(home.leaves, entry, to);
  return true;
}

void MovingTree::set_box(NodeRef leaf, EntryId entry, const Rect& box) {
  Posting* const found = postings_.find(nodes_[leaf].postings, raw(entry));
  ensure(found != nullptr, "ap+-tree: an entry that moves is not in its leaf");
  found->box = CoarseBox(box);
}

void MovingTree::show(const Site& site, const Item& item, const MoveJudge& judge) const {
  const Clause clause = store_.clause(item.entry);
  for_each_node_of(site, item, item_positions_, [&](const Site& at) {
    if (!judge.is_unchanged_in(at.space)) judge.see(lists_, own(at.node), clause);
  });
}

void MovingTree::show_all(SubscriptionId id, const MoveJudge& judge) {
  store_.for_each_entry(id, [&](EntryId entry) {
    item_positions_.clear();
    show(kRootSite, read_item(entry, item_positions_), judge);
  });
}

bool MovingTree::is_slot_of(const Node& node, const Rect& box, std::uint32_t slot) const {
  const GridView cells = grid(node);
  if (covers(box, cells.region)) return slot == node.dummy();
  return slot != node.dummy() &&
         cells.range_of(box).contains(slot % node.grid.columns, slot / node.grid.columns);
}

bool MovingTree::has_same_slots(const Node& node, const Rect& one, const Rect& other) const {
  const GridView cells = grid(node);
  const bool one_covers = covers(one, cells.region), other_covers = covers(other, cells.region);
  if (one_covers || other_covers) return one_covers && other_covers;
  return cells.range_of(one) == cells.range_of(other);
}

/// Takes the item out of nodes that the new box does not reach (Case 2), and passes their messages
/// and those of nodes that both reach (Cases 1 and 3) to the judge. Notes nodes that only the new
/// box reaches.
void MovingTree::leave(const Site& site, const Item& item, const Rect& to, const MoveJudge& judge) {
  const bool changes = nodes_[site.node].kind == NodeKind::kSpatial &&
                       !has_same_slots(nodes_[site.node], item.box, to);
  if (changes && site.node != kRoot && must_remake(site.node)) remake(site);
  if (!judge.is_unchanged_in(site.space)) {
    judge.see(lists_, own(site.node), store_.clause(item.entry));
  }
  const Node node = nodes_[site.node];
  if (node.kind == NodeKind::kLeaf) {
    stayed_.push_back(site.node);
  } else if (node.kind == NodeKind::kSpatial) {
    leave_cells(site, item, to, judge);
  } else {
    const Position keyword = keyword_at(&item_positions_[item.positions], node.offset);
    leave(child_site(site, slot_of_keyword(node, keyword)), item, to, judge);
  }
}

void MovingTree::leave_cells(const Site& site, const Item& item, const Rect& to,
                             const MoveJudge& judge) {
  const Node node = nodes_[site.node];
  for_each_slot(node, item.box, TokenOrder::kUnplaced, [&](std::uint32_t slot) {
    const Site below = child_site(site, slot);
    if (is_slot_of(node, to, slot)) return leave(below, item, to, judge);
    show(below, item, judge);
    remove(below, item);
  });
  bool is_entering = false;
  for_each_slot(node, to, TokenOrder::kUnplaced, [&](std::uint32_t slot) {
    if (is_slot_of(node, item.box, slot)) return;
    is_entering = true;
    entered_.push_back({site, slot});
  });
  nodes_[site.node].updates += is_entering;  // its shares change
}

/// Puts the item into nodes that only the new box reaches (Case 4) and passes their messages to the
/// judge.
void MovingTree::enter(const Item& item, const MoveJudge& judge) {
  for (const NodeRef leaf : stayed_) set_box(leaf, item.entry, item.box);
  for (const Entrance& entrance : entered_) {
    const NodeRef parent = entrance.site.node;
    if (child(nodes_[parent], entrance.slot) == kNoNode) new_child(parent, entrance.slot);
    const Site below = child_site(entrance.site, entrance.slot);
    add(below, item);
    show(below, item, judge);
  }
}

}  // namespace nearcast::ap
