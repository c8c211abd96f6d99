#include <algorithm>

#include "nearcast/index/papers/ap_tree/ap_tree.h"

namespace nearcast {

using ap::kNoNode;
using ap::Node;
using ap::NodeKind;

std::vector<ParameterSpec> ApTree::parameters() {
  return {
      whole("max_children", 200, 2, 60000, "fan-out of a node: cuts or cells"),
      whole("max_cuts", 0, 0, 1e6, "fan-out of a node with cuts; 0: as max_children"),
      choice("order", {"frequent-first", "rare-first"}, "which keywords are cut by first"),
      whole("max_leaf_size", 40, 1, 1e6, "a node with no more subscriptions is a leaf"),
      real("kl_threshold", 0.001, 0, 1e9, "divergence from which a node is made again"),
      flag("rebuild", true, "make nodes again when what they hold has changed"),
      real("min_rebuild_share", 0.001, 0, 1,
           "share of all subscriptions a node needs for its divergence to count"),
      choice("keyword_partition", {"heuristic", "optimal"}, "how keywords are cut"),
      choice("priority", {"adaptive", "keyword", "spatial"},
             "which partition goes first: the cheaper, or always this"),
  };
}

ApTree::ApTree(const SubscriptionStore& store, const Parameters& parameters, bool keeps_messages,
               std::size_t max_rebuild)
    : MatchIndex(store) {
  options_.keeps_messages = keeps_messages;
  options_.max_children = parameters.count("max_children");
  const std::size_t cuts = parameters.count("max_cuts");
  options_.max_cuts = cuts == 0 ? options_.max_children : std::max<std::size_t>(2, cuts);
  options_.first = parameters.word("order") == "rare-first" ? TokenOrder::First::kRare
                                                            : TokenOrder::First::kFrequent;
  options_.max_leaf_size = parameters.count("max_leaf_size");
  // A leaf has to be divided, whatever the limit.
  options_.max_rebuild = std::max(max_rebuild, 2 * options_.max_leaf_size);
  options_.kl_threshold = parameters.number("kl_threshold");
  options_.min_rebuild_share = parameters.number("min_rebuild_share");
  options_.rebuilds = parameters.flag("rebuild");
  options_.is_optimal = parameters.word("keyword_partition") == "optimal";
  const std::string& priority = parameters.word("priority");
  options_.priority = priority == "keyword"   ? Priority::kKeyword
                      : priority == "spatial" ? Priority::kSpatial
                                              : Priority::kAdaptive;
  nodes_.resize(2);
  Node root;
  root.kind = NodeKind::kLeaf;
  root.cuts_keywords = root.cuts_space = true;
  nodes_[ap::kRoot] = root;
}

ap::NodeRef& ApTree::child(const Node& node, std::uint32_t slot) {
  return *words_.at(node.children_at() + slot);
}

ap::NodeRef ApTree::child(const Node& node, std::uint32_t slot) const {
  return *words_.at(node.children_at() + slot);
}

ap::CutsView ApTree::cuts(const Node& node) const {
  const Position* lowers = words_.at(node.cuts.words);
  return {{lowers, node.cuts.count}, {lowers + node.cuts.count, node.cuts.count}};
}

ap::GridView ApTree::grid(const Node& node) const {
  const double* lines = lines_.at(node.grid.lines);
  const double* x = lines + 4;
  const double* y = x + node.grid.columns - 1;
  return {{lines[0], lines[1], lines[2], lines[3]},
          {x, node.grid.columns - 1u},
          {y, node.grid.rows - 1u}};
}

ap::NodeRef ApTree::new_child(NodeRef parent, std::uint32_t slot) {
  NodeRef made;
  if (free_nodes_.empty()) {
    made = static_cast<NodeRef>(nodes_.size());
    nodes_.resize(nodes_.size() + 1);
  } else {
    made = free_nodes_.back();
    free_nodes_.pop_back();
  }
  const Node& above = nodes_[parent];
  const bool is_dummy = slot == above.dummy(), by_keyword = above.kind == NodeKind::kKeyword;
  Node node;
  node.kind = NodeKind::kLeaf;
  node.parent = parent;
  // Keywords of entries in a dummy cut are used up, unless the dummy also has those outside all
  // cuts.
  node.cuts_keywords =
      above.cuts_keywords && (options_.keeps_messages || !(is_dummy && by_keyword));
  node.cuts_space = above.cuts_space && !(is_dummy && !by_keyword);
  node.offset = static_cast<std::uint16_t>(above.offset + (by_keyword && !is_dummy));
  nodes_[made] = node;
  child(above, slot) = made;
  child_made(parent, slot);
  return made;
}

void ApTree::drop_child(NodeRef parent, std::uint32_t slot) {
  NodeRef& link = child(nodes_[parent], slot);
  clear(link);
  nodes_[link].kind = NodeKind::kFree;
  free_nodes_.push_back(link);
  link = kNoNode;
}

void ApTree::clear(NodeRef ref) {
  clearing(ref);
  Node& node = nodes_[ref];
  if (node.kind == NodeKind::kLeaf) {
    postings_.release(node.postings);
  } else {
    for (std::uint32_t slot = 0; slot < node.slots(); ++slot) {
      if (child(node, slot) != kNoNode) drop_child(ref, slot);
    }
    words_.free(node.words(), node.word_count());
    if (node.kind == NodeKind::kSpatial) lines_.free(node.grid.lines, node.line_count());
  }
  if (node.kind == NodeKind::kKeyword) {  // may have cut by a later keyword than the next
    const Node& above = nodes_[node.parent];
    const bool in_cut = above.kind == NodeKind::kKeyword && child(above, above.dummy()) != ref;
    node.offset = static_cast<std::uint16_t>(above.offset + in_cut);
  }
  node.kind = NodeKind::kLeaf;
  node.postings = {};
  node.weight = node.made_weight = node.updates = 0;
}

void ApTree::write_leaf(NodeRef ref, std::span<const EntryId> entries) {
  Node& node = nodes_[ref];
  node.weight = static_cast<std::uint32_t>(entries.size());
  for (const EntryId entry : entries) postings_.insert(node.postings, posting(entry));
  if (node.weight > options_.max_leaf_size) node.made_weight = 2 * node.weight;
  leaf_written(ref);
}

void ApTree::write_cuts(NodeRef ref, std::size_t offset, const ap::KeywordPlan& plan) {
  Node& node = nodes_[ref];
  node.kind = NodeKind::kKeyword;
  node.offset = static_cast<std::uint16_t>(offset);
  node.cuts.count = static_cast<std::uint32_t>(plan.lowers.size());
  node.cuts.words = words_.allocate(node.word_count());
  std::uint32_t* words = words_.at(node.cuts.words);
  std::fill_n(words, node.word_count(), 0);
  std::copy(plan.lowers.begin(), plan.lowers.end(), words);
  std::copy(plan.uppers.begin(), plan.uppers.end(), words + node.cuts.count);
}

void ApTree::write_grid(NodeRef ref, const ap::GridPlan& plan) {
  Node& node = nodes_[ref];
  node.kind = NodeKind::kSpatial;
  node.grid.columns = static_cast<std::uint16_t>(plan.x.size() + 1);
  node.grid.rows = static_cast<std::uint16_t>(plan.y.size() + 1);
  node.grid.words = words_.allocate(node.word_count());
  std::fill_n(words_.at(node.grid.words), node.word_count(), 0);
  node.grid.lines = lines_.allocate(node.line_count());
  double* lines = lines_.at(node.grid.lines);
  for (const double side :
       {plan.region.west, plan.region.south, plan.region.east, plan.region.north}) {
    *lines++ = side;
  }
  std::copy(plan.y.begin(), plan.y.end(), std::copy(plan.x.begin(), plan.x.end(), lines));
}

ApTree::Site ApTree::child_site(const Site& site, std::uint32_t slot) const {
  const Node& node = nodes_[site.node];
  Site below{child(node, slot), site.space, site.depth + 1};
  if (node.kind != NodeKind::kSpatial || slot == node.dummy()) return below;
  const ap::GridView cells = grid(node);
  const std::uint32_t column = slot % node.grid.columns, row = slot / node.grid.columns;
  if (column > 0) below.space.west = cells.x[column - 1];
  if (column < cells.x.size()) below.space.east = cells.x[column];
  if (row > 0) below.space.south = cells.y[row - 1];
  if (row < cells.y.size()) below.space.north = cells.y[row];
  return below;
}

ap::Posting ApTree::posting(EntryId entry) const {
  return {ap::CoarseBox(store_.bounds(store_.owner(entry))), entry,
          signature_of(store_.clause(entry).positive)};
}

ap::Item ApTree::read_item(EntryId entry, std::vector<Position>& positions) {
  const std::size_t first = positions.size();
  for (const Token token : store_.clause(entry).positive) {
    positions.push_back(order_.position_or_append(token));
  }
  std::sort(positions.begin() + static_cast<std::ptrdiff_t>(first), positions.end());
  positions.push_back(TokenOrder::kUnplaced);
  return {store_.bounds(store_.owner(entry)), entry, static_cast<std::uint32_t>(first)};
}

std::size_t ApTree::memory_bytes() const {
  return nodes_.memory_bytes() + free_nodes_.memory_bytes() + words_.memory_bytes() +
         lines_.memory_bytes() + postings_.memory_bytes() + order_.memory_bytes() +
         sample_.memory_bytes();
}

}  // namespace nearcast
