#include "nearcast/index/baselines/ir_tree/child_tokens.h"

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

/// The child of `node` on the way to `below`; kNoRNode: `below` is no longer below it.
RNodeId child_towards(const RTreeNodes& nodes, RNodeId node, RNodeId below) {
  while (below != kNoRNode && nodes.parent(below) != node) below = nodes.parent(below);
  return below;
}

}  // namespace

void ChildTokens::list_child(RNodeId node, TokenKey key, RNodeId child) {
  if (!postings_.has(raw(node), key, raw(child))) postings_.add(raw(node), key, raw(child));
}

void ChildTokens::unlist_if_lost(RNodeId node, TokenKey key, RNodeId child) {
  if (!postings_.has(raw(child), key)) postings_.remove(raw(node), key, raw(child));
}

void ChildTokens::entry_added(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
  for_each_key(store_.clause(entry), [&](TokenKey key) {
    if (nodes.is_leaf(node)) {
      postings_.add(raw(node), key, raw(entry));
    } else {
      list_child(node, key, told_last_);
    }
  });
  told_last_ = node;
}

void ChildTokens::entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
  for_each_key(store_.clause(entry), [&](TokenKey key) {
    if (nodes.is_leaf(node)) {
      postings_.remove(raw(node), key, raw(entry));
    } else {
      unlist_if_lost(node, key, told_last_);
    }
  });
  told_last_ = node;
}

void ChildTokens::subtree_added(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
  const RNodeId through = child_towards(nodes, node, child);
  postings_.for_each(raw(child), [&](const TokenTables::Cell& cell) {
    const TokenKey key = cell.key();
    if (through == child) {  // new here, so no list has it yet
      postings_.add(raw(node), key, raw(child));
    } else {
      list_child(node, key, through);
    }
  });
}

void ChildTokens::subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
  const RNodeId through = child_towards(nodes, node, child);
  postings_.for_each(raw(child), [&](const TokenTables::Cell& cell) {
    const TokenKey key = cell.key();
    if (through == child || through == kNoRNode) {  // it is below this node, or was until now
      postings_.remove(raw(node), key, raw(child));
    } else {
      unlist_if_lost(node, key, through);
    }
  });
}

void ChildTokens::child_split(const RTreeNodes&, RNodeId node, RNodeId child, RNodeId sibling) {
  postings_.for_each(raw(sibling), [&](const TokenTables::Cell& cell) {
    const TokenKey key = cell.key();
    postings_.add(raw(node), key, raw(sibling));
    unlist_if_lost(node, key, child);
  });
}

void ChildTokens::check_invariants(const RTreeNodes& nodes) const {
  postings_.check_invariants("IR-tree");
  const std::size_t expected = nodes.root() == kNoRNode ? 0 : check_below(nodes, nodes.root());
  ensure(expected == postings_.size(), "IR-tree: a list names what does not have its token");
}

/// Returns how many postings the node and all below it should have.
std::size_t ChildTokens::check_below(const RTreeNodes& nodes, RNodeId node) const {
  std::size_t expected = 0;
  const auto check = [&](TokenKey key, std::uint32_t item) {
    ++expected;
    ensure(postings_.has(raw(node), key, item),
           "IR-tree: a child or an entry is not in the list of its token");
  };
  std::size_t below = 0;
  for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot) {
    if (nodes.is_leaf(node)) {
      const EntryId entry = nodes.entry(node, slot);
      for_each_key(store_.clause(entry), [&](TokenKey key) { check(key, raw(entry)); });
    } else {
      const RNodeId child = nodes.child(node, slot);
      postings_.for_each(raw(child),
                         [&](const TokenTables::Cell& cell) { check(cell.key(), raw(child)); });
      below += check_below(nodes, child);
    }
  }
  return expected + below;
}

}  // namespace nearcast
