/// AP-Tree: groups subscriptions by keyword cuts or by grid cells, whichever costs less at a node.
/// [AP §3.2.2 structure, §3.2.3 matching, §3.3 construction and maintenance]
///
///   paper      here                    meaning
///   f          max_children, max_cuts  fan-out of an s-node (cells), of a k-node (cuts)
///   θ_p        max_leaf_size           a node with no more entries stays or becomes a leaf
///   θ_KL       kl_threshold            a node whose shares drifted further is made again
///   N_l        Node::offset            which keyword of its entries a k-node cuts by, from 0
///   N_r        GridView::region        what the grid of an s-node divides
///   kP, sP     Node::cuts_*            may this node be cut by keyword, by space?
///   η          first_token             first message token not yet used on this path
///   w(B), p(B) weight, probability     of a cut or cell: entries in it, chance of a visit
///   s-list     Posting                 what a leaf holds
///   DP, HR     keyword_partition       optimal, heuristic
///   NR         rebuild = false         nodes are split and joined, never made again
///   K-, SPriority  priority            keyword, spatial: the other partition only where it fails
///
/// Exact: a message goes to every cut that one of its tokens hits, with the smallest hit, to every
/// cell its place touches and to every dummy; what the leaves propose is verified. A point meets an
/// entry once; a box meets it once per cell, so boxes report through visit stamps.
///
/// Departs from the paper:
/// - Entries are clauses: one without keywords starts in dummy cuts, areas of any shape are indexed
///   by their bounds, a clause's negative tokens are only verified.
/// - A partition must pay: the expected cost, the dummy's included, has to be below |S|, for a grid
///   below 9/10 of it. The fan-out grows with |S| up to f. Grids put an entry into at most four
///   cells per node and eight leaves in all, on average; the paper's cost knows no memory.
/// - Cuts are [first, last] keyword of those seen. A new keyword stretches the cut below it, so
///   inserting always finds a cut while tokens in gaps open none.
/// - Where all entries share the next keyword and that does not prune, a k-node cuts by a later
///   one.
/// - N_r is the hull of what the node holds; the cells at its rim reach to infinity.
/// - Hit probabilities of a sample are smoothed towards those assumed without one (sample.h); a
///   repair asks the sample only if the node is heavy enough to pay for leading it there.
/// - Shares of a node drift by chance alone. So the divergence is computed after every
///   made_weight / 4 updates and has to exceed θ_KL by what chance explains; so the cost of making
///   a node again is spread over updates in proportion to its weight. A node that was made small,
///   with fewer than f children, is also made again when it has four times its weight.
/// - Making the root again orders the keywords anew.
/// - A heavy node is not made again within one change: a successor of the whole tree grows beside
///   it (succession.h).
/// - A leaf tests a coarse box and a signature of the keywords before it looks into the store.
/// - A leaf's entries are a list of blocks (base/block_lists.h): one is found at once also where
/// many
///   subscriptions differ in nothing that could divide them.
#pragma once

#include <functional>
#include <vector>

#include "nearcast/index/match_index.h"
#include "nearcast/index/papers/ap_tree/keyword_partition.h"
#include "nearcast/index/papers/ap_tree/node.h"
#include "nearcast/index/papers/ap_tree/sample.h"
#include "nearcast/index/parameters.h"

namespace nearcast {

class ApTree : public MatchIndex {
 public:
  /// A node with more entries than `max_rebuild` makes the tree want a successor (succession.h).
  ApTree(const SubscriptionStore& store, const Parameters& parameters, std::size_t max_rebuild)
      : ApTree(store, parameters, false, max_rebuild) {}
  static std::vector<ParameterSpec> parameters();

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void learn(const MessageSample& messages) override { sample_.learn(messages, order_); }
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  // For a succession.
  std::size_t entries() const { return nodes_[ap::kRoot].weight; }
  bool wants_successor() const { return wants_successor_; }
  /// Of a tree that is not empty: a subscription, drawn about uniformly.
  SubscriptionId any(std::uint64_t& random) const;
  void succeed(ApTree& old);  ///< `old` is not made again from now on

  std::size_t memory_bytes() const override;
  void check_invariants() const override {
    check([](SubscriptionId) { return true; });
  }
  using IsHere = std::function<bool(SubscriptionId)>;
  void check(const IsHere& is_here) const;  ///< is_here(id): it must be in the tree

 protected:
  using NodeRef = ap::NodeRef;
  class Builder;    // build.cpp, plan.cpp
  class Inspector;  // check.cpp
  struct Probe;     // probe.h

  enum class Priority { kAdaptive, kKeyword, kSpatial };
  struct Options {
    std::size_t max_children, max_cuts, max_leaf_size;
    TokenOrder::First first;
    double kl_threshold, min_rebuild_share;
    bool rebuilds, is_optimal;
    Priority priority;
    /// Messages are kept in the tree too (AP+-Tree). An entry that is inserted later must find a
    /// message where it was put when it was published, so cuts never stretch: an entry whose
    /// keyword is in none is in the dummy, which every message visits. And children that become
    /// empty stay.
    bool keeps_messages;
    std::size_t max_rebuild;
  };

  /// Where a node is, for code that descends: nodes themselves do not store it.
  struct Site {
    NodeRef node;
    Rect space;
    unsigned depth;
  };
  static constexpr Site kRootSite{ap::kRoot, kWorld, 0};

  /// The messages at a node by which hit probabilities are estimated.
  struct Evidence {
    const ap::Sample* sample;
    std::vector<ap::Visit> visits;
    double kept_per_visit = 0;  ///< kept messages that each of them represents
  };

  ApTree(const SubscriptionStore& store, const Parameters& parameters, bool keeps_messages,
         std::size_t max_rebuild);

  // For a tree that keeps messages: when to carry them over, and what to add to the cost.
  virtual void child_made(NodeRef /*parent*/, std::uint32_t /*slot*/) {}
  virtual void leaf_written(NodeRef) {}
  virtual void posting_added(NodeRef /*leaf*/, EntryId) {}
  virtual void posting_removed(NodeRef /*leaf*/, EntryId) {}
  virtual void clearing(NodeRef) {}  ///< called before the node is emptied
  virtual void made(const Site&) {}  ///< the node and all below it are new
  /// May the node be made again within one change? Its entries are few enough.
  virtual bool is_light(NodeRef) { return true; }
  virtual Evidence evidence(const Site& site, std::size_t entries);
  virtual double grid_penalty(const Site&, std::span<const ap::Item>, const ap::GridPlan&) const {
    return 0;
  }
  /// Should a leaf of so many entries and so many kept messages stay undivided?
  virtual bool is_small(const Site&, std::size_t entries, double /*messages*/) const {
    return entries <= options_.max_leaf_size;
  }
  /// Does it pay to reduce what a message has to be compared with from `entries` to `cost`?
  virtual bool pays_by_keyword(std::size_t entries, double /*messages*/, double cost) const {
    // A cut copies nothing and uses up a keyword, so even a small gain makes further cuts possible.
    return cost + 1 < static_cast<double>(entries);
  }
  virtual bool pays_by_grid(std::size_t entries, double /*messages*/, double cost) const {
    return cost < 0.9 * static_cast<double>(entries);
  }
  /// How many children, of `most`, for so many entries among so many kept messages?
  virtual std::size_t fan_out(std::size_t most, std::size_t entries, double messages) const;

  // nodes.cpp: the records
  NodeRef new_child(NodeRef parent, std::uint32_t slot);
  void drop_child(NodeRef parent, std::uint32_t slot);
  void clear(NodeRef node);  ///< makes it an empty leaf and frees all below it
  void write_leaf(NodeRef node, std::span<const EntryId> entries);
  void write_cuts(NodeRef node, std::size_t offset, const ap::KeywordPlan& plan);
  void write_grid(NodeRef node, const ap::GridPlan& plan);
  ap::CutsView cuts(const ap::Node& node) const;
  ap::GridView grid(const ap::Node& node) const;
  NodeRef& child(const ap::Node& node, std::uint32_t slot);
  NodeRef child(const ap::Node& node, std::uint32_t slot) const;
  Site child_site(const Site& site, std::uint32_t slot) const;
  ap::Posting posting(EntryId entry) const;
  /// Calls visit(posting) for each of a leaf, in ascending order of their entries.
  template <typename Visit>
  void for_each_posting(const ap::Node& leaf, Visit&& visit) const {
    postings_.for_each_block(leaf.postings, [&](std::span<const ap::Posting> block) {
      for (const ap::Posting& each : block) visit(each);
    });
  }
  std::vector<EntryId> entries_below(NodeRef node) const;  ///< ascending, each once
  /// Appends the positions of the entry's keywords.
  ap::Item read_item(EntryId entry, std::vector<Position>& positions);

  // routing.h: how entries and messages pass through a node
  std::uint32_t slot_of_keyword(const ap::Node& node, Position keyword) const;
  template <typename See>
  void for_each_slot(const ap::Node& node, const Rect& box, Position keyword, See&& see) const;
  template <typename See>
  void for_each_hit(const ap::Node& node, std::span<const Position> positions, const Place& place,
                    std::uint32_t first_token, See&& see) const;

  // match.cpp
  /// The positions of those tokens that have one, ascending.
  void read_positions(TokenSpan tokens, std::vector<Position>& positions) const;
  Probe probe_for(const Message& message, MatchScratch& scratch, MatchSink& sink) const;
  void visit(NodeRef node, std::uint32_t first_token, Probe& probe) const;
  void scan(const ap::Node& leaf, Probe& probe) const;
  void verify(Probe& probe) const;

  // build.cpp, plan.cpp
  void remake(const Site& site);  ///< from what is below
  void remake_all(std::vector<EntryId> entries);
  std::vector<ap::Visit> sample_at(NodeRef node) const;

  // maintain.cpp
  void add(const Site& site, const ap::Item& item);
  void remove(const Site& site, const ap::Item& item);
  void add_posting(const Site& site, EntryId entry);
  void remove_posting(NodeRef leaf, EntryId entry);
  void stretch_cut(const ap::Node& node, std::uint32_t cut, Position keyword);
  void collapse(NodeRef node);
  bool is_due(const ap::Node& node) const;
  bool must_remake(NodeRef node);  ///< it is due, and not too heavy
  double divergence(const ap::Node& node) const;

  Options options_;
  bool wants_successor_ = false;
  Array<ap::Node> nodes_;  ///< 0 is none, 1 the root
  Array<NodeRef> free_nodes_;
  ListArena<std::uint32_t> words_;
  ListArena<double> lines_;
  ap::Postings postings_;
  TokenOrder order_;
  ap::Sample sample_;
  std::vector<Position> item_positions_;  ///< of the entry that is being inserted or erased
};

}  // namespace nearcast
