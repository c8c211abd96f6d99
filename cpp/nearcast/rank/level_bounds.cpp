#include "nearcast/rank/level_bounds.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/geo/float_box.h"

namespace nearcast {

LevelBounds::Reach LevelBounds::compute(EntryId entry, const TokenOrder& order,
                                        std::vector<float>& rests) const {
  const SubscriptionId id{raw(entry)};
  const TokenSpan wanted = store_.tokens(id);
  std::vector<Token> tokens(wanted.begin(), wanted.end());
  std::sort(tokens.begin(), tokens.end(),
            [&](Token a, Token b) { return order.position(a) > order.position(b); });
  rests.resize(tokens.size());
  double rest = 0;
  for (std::size_t i = tokens.size(); i-- > 0; rest += store_.weights()[tokens[i]]) {
    rests[i] = round_up(rest);
  }
  const Prefixes prefixes = store_.prefixes(id, tokens);
  return {prefixes.near, prefixes.far};
}

void LevelBounds::write(EntryId entry, const TokenOrder& order) {
  std::vector<float> rests;
  Row& row = rows_[raw(entry)];
  row.reach = compute(entry, order, rests);
  std::copy(rests.begin(), rests.end(), rests_.at(row.start));
}

void LevelBounds::admit(std::span<const EntryId> entries, const TokenOrder& order) {
  for (const EntryId entry : entries) {
    if (rows_.size() <= raw(entry)) rows_.resize(raw(entry) + 1);
    const auto count = static_cast<std::uint32_t>(store_.tokens(SubscriptionId{raw(entry)}).size());
    rows_[raw(entry)] = {rests_.allocate(count), count, {}};
    write(entry, order);
  }
}

void LevelBounds::forget(EntryId entry) {
  rests_.free(rows_[raw(entry)].start, rows_[raw(entry)].count);
}

void LevelBounds::node_created(RNodeId node) {
  if (reaches_.size() <= raw(node)) reaches_.resize(raw(node) + 1);
  reaches_[raw(node)] = {};
}

void LevelBounds::widen(RNodeId node, Reach other) {
  Reach& own = reaches_[raw(node)];
  own = {std::max(own.near, other.near), std::max(own.far, other.far)};
}

LevelBounds::Reach LevelBounds::of_children(const RTreeNodes& nodes, RNodeId node) const {
  Reach all{};
  for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot) {
    const Reach one =
        nodes.is_leaf(node) ? reach(nodes.entry(node, slot)) : reach(nodes.child(node, slot));
    all = {std::max(all.near, one.near), std::max(all.far, one.far)};
  }
  return all;
}

void LevelBounds::compute_all(const RTreeNodes& nodes, const TokenOrder& order) {
  if (nodes.root() != kNoRNode) compute_below(nodes, nodes.root(), order);
}

void LevelBounds::compute_below(const RTreeNodes& nodes, RNodeId node, const TokenOrder& order) {
  for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot) {
    if (nodes.is_leaf(node)) {
      write(nodes.entry(node, slot), order);
    } else {
      compute_below(nodes, nodes.child(node, slot), order);
    }
  }
  reaches_[raw(node)] = of_children(nodes, node);
}

std::size_t LevelBounds::memory_bytes() const {
  return rows_.memory_bytes() + reaches_.memory_bytes() + rests_.memory_bytes();
}

void LevelBounds::check_invariants(const RTreeNodes& nodes, const TokenOrder& order) const {
  std::vector<float> rests;
  const auto check_entry = [&](EntryId entry) {
    ensure(compute(entry, order, rests) == reach(entry), "Rt++-tree: a prefix is out of date");
    ensure(std::equal(rests.begin(), rests.end(), rests_.at(rows_[raw(entry)].start)),
           "Rt++-tree: a bound is out of date");
  };
  const auto check_below = [&](auto&& self, RNodeId node) -> void {
    ensure(reach(node) == of_children(nodes, node),
           "Rt++-tree: a node reaches too far or too near");
    for (std::uint32_t slot = 0; slot < nodes.count(node); ++slot) {
      if (nodes.is_leaf(node)) {
        check_entry(nodes.entry(node, slot));
      } else {
        self(self, nodes.child(node, slot));
      }
    }
  };
  if (nodes.root() != kNoRNode) check_below(check_below, nodes.root());
}

}  // namespace nearcast
