#include "nearcast/index/baselines/iq_tree/iq_tree.h"

#include "nearcast/base/errors.h"
#include "nearcast/index/parts/quad_tree/quad_parameters.h"
#include "nearcast/index/parts/quad_tree/verify.h"

namespace nearcast {

IqTree::IqTree(const SubscriptionStore& store, const Parameters& parameters)
    : MatchIndex(store),
      forest_(quad_limits(parameters), store, workload_, choices_, copy_cost(parameters)) {}

std::vector<ParameterSpec> IqTree::parameters() { return quad_parameters(256, 10); }

/// The entry as it will be placed, by the workload as it is now.
IqTree::Item IqTree::choose(EntryId entry) {
  const Token key = workload_.rarest(store_.clause(entry));
  choices_.set(entry, {key, static_cast<float>(workload_.chance(key))});
  return item_of(entry);
}

void IqTree::erase(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    forest_.erase(root_, item_of(entry));
    workload_.count(store_.clause(entry), -1);
  });
  if (root_ == kNoQuadNode || forest_.nodes().total(root_) != 0) return;
  forest_.free_root(root_);
  root_ = kNoQuadNode;
}

void IqTree::build(std::span<const SubscriptionId> ids) {
  if (ids.size() > workload_.clauses()) return rebuild();
  for (const SubscriptionId id : ids) {
    store_.for_each_entry(id, [&](EntryId entry) {
      workload_.count(store_.clause(entry), +1);
      if (root_ == kNoQuadNode) root_ = forest_.create_root();
      forest_.insert(root_, choose(entry));
    });
  }
  // After all are inserted, because the store has them all already.
  if (workload_.has_outgrown_build()) rebuild();
}

void IqTree::learn(const MessageSample& sample) {
  workload_.learn(sample);
  if (root_ != kNoQuadNode) rebuild();
}

/// From everything in the store, which already has what is being added.
void IqTree::rebuild() {
  workload_.assume(store_);
  workload_.count_all(store_);
  std::vector<Item> items;
  items.reserve(workload_.clauses());
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) { items.push_back(choose(entry)); });
  });
  forest_.clear();
  root_ = items.empty() ? kNoQuadNode : forest_.create_root();
  if (!items.empty()) forest_.build(root_, std::move(items));
}

void IqTree::scan_cell(QuadNodeId node, const Message& message, std::uint64_t filter,
                       MatchScratch& scratch, MatchSink& sink) const {
  const iq::OrderedLists& lists = forest_.content();
  const std::uint64_t common = lists.filter(node) & filter;
  if (common == 0) return;
  const auto verify_block = [&](std::span<const QuadPosting> postings) {
    verify(store_, postings, message, scratch, sink);
  };
  if (common & iq::OrderedLists::filter_bit(kUnknownToken)) {
    lists.for_each_block(node, kUnknownToken, verify_block);
  }
  for (const Token token : message.tokens) {
    if (common & iq::OrderedLists::filter_bit(token)) {
      lists.for_each_block(node, token, verify_block);
    }
  }
}

void IqTree::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  if (root_ == kNoQuadNode) return;
  std::uint64_t filter = iq::OrderedLists::filter_bit(kUnknownToken);
  for (const Token token : message.tokens) filter |= iq::OrderedLists::filter_bit(token);
  forest_.search(root_, message.place, sink.work,
                 [&](QuadNodeId node) { scan_cell(node, message, filter, scratch, sink); });
}

std::size_t IqTree::memory_bytes() const {
  return workload_.memory_bytes() + choices_.memory_bytes() + forest_.memory_bytes() +
         forest_.content().memory_bytes();
}

void IqTree::check_invariants() const {
  std::size_t entries = 0, copies = 0, postings = 0, nodes = 0;
  if (root_ != kNoQuadNode) {
    nodes = forest_.nodes().check(root_);
    forest_.for_each_cell(root_, [&](QuadNodeId node, const QuadCell&) {
      const std::size_t own = forest_.content().check(node);
      ensure(own == forest_.nodes()[node].own, "iq-tree: a cell counts its entries wrongly");
      postings += own;
    });
  }
  ensure(nodes == forest_.nodes().used(), "iq-tree: a cell is not reached from the root");
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      const Item item = item_of(entry);
      forest_.for_each_cell_of(root_, item, [&](QuadNodeId node) {
        ++copies;
        ensure(forest_.content().has(node, item), "iq-tree: an entry is not in one of its cells");
      });
    });
  });
  ensure(copies == postings, "iq-tree: lists hold entries that no subscription has");
  ensure(entries == workload_.clauses(), "iq-tree: clauses are counted wrongly");
}

}  // namespace nearcast
