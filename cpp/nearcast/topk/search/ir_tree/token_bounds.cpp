#include "nearcast/topk/search/ir_tree/token_bounds.h"

#include "nearcast/base/errors.h"

namespace nearcast {

template <typename Visit>
void TokenBounds::for_each_weight(EntryId entry, Visit&& visit) const {
  const MessageId id{raw(entry)};
  const TokenSpan tokens = state_.messages.tokens(id);
  const auto counts = state_.messages.counts(id);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const double weight = count_at(counts, i) * (*state_.weights)[tokens[i]] / state_.length(id);
    visit(key_of(tokens[i]), round_up(weight));
  }
}

void TokenBounds::add(RNodeId node, TokenKey key, Value value) {
  Value& held = tables_.obtain(raw(node), key).value;
  const Value count = std::min(kMostMessages, messages(held) + messages(value));
  held = pack(count, std::max(most(held), most(value)));
}

void TokenBounds::subtract(const RTreeNodes& nodes, RNodeId node, TokenKey key, Value value) {
  TokenTables::Cell* cell = tables_.find(raw(node), key);
  ensure(cell != nullptr && messages(cell->value) >= messages(value),
         "IR-tree: a node lacks a token below it");
  if (messages(cell->value) == kMostMessages) return;
  const Value count = messages(cell->value) - messages(value);
  if (count == 0) {
    tables_.erase(raw(node), key);
    return;
  }
  Value weight = most(cell->value);
  if (weight == most(value)) weight = most_below(nodes, node, key);
  cell->value = pack(count, weight);
}

TokenBounds::Value TokenBounds::most_below(const RTreeNodes& nodes, RNodeId node,
                                           TokenKey key) const {
  Value weight = 0;
  for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot) {
    if (nodes.is_leaf(node)) {
      for_each_weight(nodes.entry(node, slot), [&](TokenKey other, Value own) {
        if (other == key) weight = std::max(weight, own);
      });
    } else if (const auto* cell = tables_.find(raw(nodes.child(node, slot)), key)) {
      weight = std::max(weight, most(cell->value));
    }
  }
  return weight;
}

void TokenBounds::entry_added(const RTreeNodes&, RNodeId node, EntryId entry) {
  for_each_weight(entry, [&](TokenKey key, Value weight) { add(node, key, pack(1, weight)); });
}

void TokenBounds::entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId entry) {
  for_each_weight(entry,
                  [&](TokenKey key, Value weight) { subtract(nodes, node, key, pack(1, weight)); });
}

void TokenBounds::subtree_added(const RTreeNodes&, RNodeId node, RNodeId child) {
  tables_.for_each(raw(child),
                   [&](const TokenTables::Cell& cell) { add(node, cell.key(), cell.value); });
}

void TokenBounds::subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId child) {
  tables_.for_each(raw(child), [&](const TokenTables::Cell& cell) {
    subtract(nodes, node, cell.key(), cell.value);
  });
}

void TokenBounds::check_invariants(const RTreeNodes& nodes) const {
  tables_.check_invariants("IR-tree of messages");
  if (nodes.root() != kNoRNode) check_node(nodes, nodes.root());
}

void TokenBounds::check_node(const RTreeNodes& nodes, RNodeId node) const {
  TokenTables expected;
  expected.add_row(0);
  nodes.for_each_entry_below(node, [&](EntryId entry, const Rect&) {
    for_each_weight(entry, [&](TokenKey key, Value weight) {
      Value& held = expected.obtain(0, key).value;
      held = pack(messages(held) + 1, std::max(most(held), weight));
    });
  });
  ensure(expected.size(0) == tables_.size(raw(node)),
         "IR-tree: a node has tokens of nothing below");
  expected.for_each(0, [&](const TokenTables::Cell& cell) {
    const TokenTables::Cell* found = tables_.find(raw(node), cell.key());
    ensure(found != nullptr && found->value == cell.value, "IR-tree: a bound of a token is wrong");
  });
  if (nodes.is_leaf(node)) return;
  for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot)
    check_node(nodes, nodes.child(node, slot));
}

}  // namespace nearcast
