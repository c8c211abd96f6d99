#include <algorithm>
#include <utility>

#include "nearcast/index/papers/ap_plus_tree/moving_tree.h"
#include "nearcast/index/papers/ap_tree/probe.h"
#include "nearcast/index/papers/ap_tree/routing.h"

namespace nearcast::ap {

std::vector<ParameterSpec> MovingTree::parameters() {
  std::vector<ParameterSpec> specs = ApTree::parameters();
  for (ParameterSpec& spec : specs) {
    if (spec.name == "max_cuts") spec.standard = 100000.0;
    if (spec.name == "order") spec.standard = "rare-first";
  }
  specs.push_back(whole("max_copies", 64, 1, 1e6,
                        "places where a message is kept; with more it stays higher up"));
  specs.push_back(
      real("max_load", 20000, 1, 1e12, "a leaf with more subscriptions times messages is divided"));
  specs.push_back(
      real("update_cost", 10, 0, 1e9, "comparisons that a step of moving from cell to cell costs"));
  specs.push_back(whole("max_rebuild", 1024, 1, 1e9,
                        "a node with more subscriptions or messages is not made again"));
  return specs;
}

MovingTree::MovingTree(const SubscriptionStore& store, const Parameters& parameters)
    : ApTree(store, parameters, true, parameters.count("max_rebuild")),
      max_copies_(parameters.count("max_copies")),
      max_load_(parameters.number("max_load")),
      update_cost_(parameters.number("update_cost")) {
  seats_.resize(kRoot + 1);
  seats_[kRoot] = {kWorld, 0};
}

std::size_t MovingTree::memory_bytes() const {
  return ApTree::memory_bytes() + motion_.memory_bytes() + homes_.memory_bytes() +
         seats_.memory_bytes();
}

/// Derives from the nodes what only a moving tree keeps for them.

/// Matches the message and keeps it in one descent [AP §4.2.4].
void MovingTree::keep(MessageId id, MatchScratch& scratch, MatchSink& sink) {
  motion_.arrived();
  ++changes_;
  if (must_forget()) {
    forget_messages();
    return match(lists_.messages().message(id), scratch, sink);
  }
  lists_.start(id);
  ++kept_;
  const Message message = lists_.messages().message(id);
  Probe probe = probe_for(message, scratch, sink);
  pass(kRoot, 0, {id, probe.positions, message.place, &probe}, max_copies_);
  verify(probe);
  divide_crowded();
}

void MovingTree::drop(MessageId id) {
  lists_.end(id, [](Number) {});
  --kept_;
}

/// `budget`: how many lists below the message may be put into; 0: it is in a list above.
void MovingTree::pass(NodeRef ref, std::uint32_t first_token, const Passage& passage,
                      std::size_t budget) {
  if (passage.probe != nullptr) ++passage.probe->sink.work.nodes_visited;
  if (budget != 0) make_dummy_in_time(ref);
  const Node node = nodes_[ref];
  if (node.kind == NodeKind::kLeaf) {
    if (passage.probe != nullptr) scan(node, *passage.probe);
    if (budget != 0) put(ref, passage.id);
    return;
  }
  const std::size_t first = hits_.size();
  for_each_hit(node, passage.positions, passage.place, first_token,
               [&](std::uint32_t slot, std::uint32_t next_token) {
                 if (slot == node.dummy() && child(node, slot) == kNoNode) return;
                 hits_.push_back({slot, next_token});
               });
  const std::size_t last = hits_.size();
  if (budget != 0 && last - first > budget) {
    lists_.append(own(ref), passage.id);
    budget = 0;
  } else if (budget != 0 && first == last) {
    lists_.append(parked(ref), passage.id);
  } else if (budget != 0) {
    budget /= last - first;
  }
  for (std::size_t i = first; i < last && (budget != 0 || passage.probe != nullptr); ++i) {
    const Hit hit = hits_[i];
    NodeRef below = child(node, hit.slot);
    if (below == kNoNode && budget != 0) below = new_child(ref, hit.slot);
    if (below != kNoNode) pass(below, hit.first_token, passage, budget);
  }
  hits_.resize(first);
}

/// A dummy takes over all messages of its parent, so it is there before they are many.
void MovingTree::make_dummy_in_time(NodeRef ref) {
  const Node& node = nodes_[ref];
  if (node.kind == NodeKind::kLeaf || child(node, node.dummy()) != kNoNode) return;
  if (passed_.size() <= ref) passed_.resize(ref + 1);
  if (++passed_[ref] > options_.max_rebuild / 2) new_child(ref, node.dummy());
}

void MovingTree::put(NodeRef leaf, MessageId id) {
  lists_.append(own(leaf), id);
  if (!is_crowded(leaf)) return;
  if (is_carrying_) {  // was divided just now: dividing it again would give the same
    note_tried(leaf);
  } else {
    crowded_.push_back(leaf);
  }
}

void MovingTree::note_tried(NodeRef leaf) {
  if (tried_.size() <= leaf) tried_.resize(leaf + 1);
  tried_[leaf] = static_cast<std::uint32_t>(lists_.view(own(leaf)).size());
}

bool MovingTree::is_crowded(NodeRef node) const {
  const std::size_t messages = lists_.view(own(node)).size();
  const bool is_long = messages > options_.max_rebuild / 2 && nodes_[node].weight != 0;
  if (!is_long && static_cast<double>(messages) * nodes_[node].weight <= max_load_) return false;
  return node >= tried_.size() || messages >= 2 * std::size_t{tried_[node]};
}

void MovingTree::divide_crowded() {
  while (!crowded_.empty()) {
    const NodeRef node = crowded_.back();
    crowded_.pop_back();
    // The node may have become something else since.
    if (nodes_[node].kind != NodeKind::kLeaf || !is_crowded(node)) continue;
    const bool can_be_divided = nodes_[node].weight <= options_.max_rebuild &&
                                (nodes_[node].cuts_keywords || nodes_[node].cuts_space);
    // A node that could not be divided when it had fewer messages is not worth forgetting them for.
    const bool was_tried = node < tried_.size() && tried_[node] != 0;
    const bool is_long = lists_.view(own(node)).size() > options_.max_rebuild;
    if (can_be_divided && !(was_tried && is_long) && is_light(node)) remake(site_of(node));
    if (nodes_[node].kind == NodeKind::kLeaf) note_tried(node);
  }
}

bool MovingTree::must_forget() const {
  if (refused_ == kNoNode || 4 * changes_ < kept_ + nodes_[kRoot].weight) return false;
  return refused_ < nodes_.size() && nodes_[refused_].kind != NodeKind::kFree &&
         nodes_[refused_].weight <= options_.max_rebuild;
}

void MovingTree::forget_messages() {
  const NodeRef node = refused_;
  lists_.forget_all();
  kept_ = 0;
  tried_.clear();
  passed_.clear();
  refused_ = kNoNode;
  changes_ = 0;
  has_forgotten_ = true;
  if (node == kRoot) {
    remake_all(entries_below(kRoot));
  } else {
    remake(site_of(node));
  }
}

bool MovingTree::has_forgotten() { return std::exchange(has_forgotten_, false); }

ApTree::Site MovingTree::site_of(NodeRef node) const {
  if (node == kRoot) return kRootSite;
  return child_site(site_of(nodes_[node].parent), seats_[node].slot);
}

MovingTree::Path MovingTree::path_to(NodeRef ref) const {
  Path path;
  for (NodeRef at = ref; at != kRoot; at = nodes_[at].parent) {
    const Node& above = nodes_[nodes_[at].parent];
    const std::uint32_t cut = seats_[at].slot;
    if (above.kind != NodeKind::kKeyword || cut == above.dummy()) continue;
    path.emplace_back(cuts(above).lowers[cut], cuts(above).uppers[cut]);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::uint32_t MovingTree::first_token_at(const Path& path, std::span<const Position> positions) {
  auto at = positions.begin();
  for (const auto& [lower, upper] : path) {
    at = std::lower_bound(at, positions.end(), lower);
    ensure(at != positions.end() && *at <= upper, "ap+-tree: a message is where it cannot come to");
    ++at;
  }
  return static_cast<std::uint32_t>(at - positions.begin());
}

}  // namespace nearcast::ap
