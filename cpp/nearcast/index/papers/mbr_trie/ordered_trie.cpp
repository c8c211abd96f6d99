#include "nearcast/index/papers/mbr_trie/ordered_trie.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

void OrderedTrie::place_tokens(TokenSpan tokens, std::vector<Position>& positions) const {
  positions.clear();
  for (const Token token : tokens) {
    const Position position = order_.position(token);
    if (position != TokenOrder::kUnplaced) positions.push_back(position);
  }
  std::sort(positions.begin(), positions.end());
}

void OrderedTrie::append_path(EntryId entry, std::vector<Position>& path) const {
  const auto start = static_cast<std::ptrdiff_t>(path.size());
  for (const Token token : store_.clause(entry).positive) path.push_back(order_.position(token));
  std::sort(path.begin() + start, path.end());
  if (options_.rare_first) std::reverse(path.begin() + start, path.end());
}

TrieNodeId OrderedTrie::add_node(TrieNodeId parent, Position position, std::uint32_t depth) {
  const TrieNodeId node = trie_.add_child(parent, position);
  trie_[node] = kNewBranch;
  if (level_sizes_.size() <= depth) level_sizes_.resize(depth + 1);
  ++level_sizes_[depth];
  return node;
}

/// The rest of the path is missing below `parent`: makes it, and a number in its place.
Number OrderedTrie::take_number(TrieNodeId parent, std::span<const Position> missing, Seat& seat,
                                std::uint32_t depth) {
  // What is new stands before the next child, and behind all others if there is none.
  const std::span<const TrieChild> siblings = trie_.children(parent);
  const std::uint32_t place = trie_.place_of_child(parent, missing.front());
  const bool is_last = place == siblings.size();
  const Number neighbour = is_last ? trie_[parent].last : trie_[siblings[place].node].first;
  seat.node = parent;
  for (const Position position : missing) seat.node = add_node(seat.node, position, ++depth);
  return is_last ? line_.take_after(neighbour, seat) : line_.take_before(neighbour, seat);
}

void OrderedTrie::insert(EntryId entry) {
  for (const Token token : store_.clause(entry).positive) order_.position_or_append(token);
  std::vector<Position> path;
  append_path(entry, path);
  std::uint32_t depth = 0;
  Seat seat{entry, kTrieRoot, float_box(store_.bounds(store_.owner(entry)))};
  for (; depth < path.size(); ++depth) {
    const TrieNodeId child = trie_.find_child(seat.node, path[depth]);
    if (child == kNoTrieNode) break;
    seat.node = child;
  }
  Number number;
  const std::span<const Position> missing = std::span<const Position>(path).subspan(depth);
  if (line_.live() + line_.marked() == 0) {
    trie_[kTrieRoot] = kNewBranch;
    for (const Position position : missing) seat.node = add_node(seat.node, position, ++depth);
    number = line_.take_any(seat);
  } else if (missing.empty()) {
    number = line_.take_before(trie_[seat.node].first, seat);
  } else {
    number = take_number(seat.node, missing, seat, depth);
  }
  follow_moves();
  numbers_.set(entry, number);
  ++trie_[seat.node].own;
  widen_up(seat.node, number, seat.box);
}

/// Numbers have changed: update the entries and the nodes whose ranges begin or end with them.
void OrderedTrie::follow_moves() {
  const auto moves = line_.moves();
  moves_.assign(moves.begin(), moves.end());
  // From the right for beginnings, from the left for ends: then a node that was updated is not
  // reached again, and a new number is not mistaken for an old one.
  for (std::size_t i = moves.size(); i-- > 0;) {
    const auto [from, to] = moves[i];
    if (line_.is_live(to)) numbers_.set(line_.entry(to), to);
    for (TrieNodeId node = line_.node(to); node != kNoTrieNode; node = trie_.parent(node)) {
      if (trie_[node].first != from) break;
      trie_[node].first = to;
    }
  }
  for (const auto [from, to] : moves) {
    for (TrieNodeId node = line_.node(to); node != kNoTrieNode; node = trie_.parent(node)) {
      if (trie_[node].last != from) break;
      trie_[node].last = to;
    }
  }
}

void OrderedTrie::widen_up(TrieNodeId node, Number number, const FloatBox& box) {
  for (; node != kNoTrieNode; node = trie_.parent(node)) {
    Branch& branch = trie_[node];
    widen(branch.box, box);
    branch.first = std::min(branch.first, number);
    branch.last = std::max(branch.last, number);
  }
}

void OrderedTrie::erase(EntryId entry) {
  moves_.clear();
  const Number number = numbers_[entry];
  --trie_[line_.node(number)].own;
  line_.mark(number);
  const auto all = static_cast<double>(line_.live() + line_.marked());
  if (static_cast<double>(line_.marked()) > options_.repair * all) repair();
}

std::size_t OrderedTrie::memory_bytes() const {
  return order_.memory_bytes() + trie_.memory_bytes() + line_.memory_bytes() +
         numbers_.memory_bytes() + level_sizes_.memory_bytes();
}

void OrderedTrie::check_invariants() const {
  trie_.check_invariants();
  line_.check_invariants();
  std::vector<std::uint32_t> levels;
  std::size_t own = 0;
  Number next = 0;  // a node's range starts behind all ranges to the left of it
  trie_.for_each([&](TrieNodeId node, std::uint32_t depth) {
    levels.resize(std::max<std::size_t>(levels.size(), depth + 1));
    ++levels[depth];
    const Branch& branch = trie_[node];
    if (line_.live() + line_.marked() == 0) return;
    ensure(branch.first >= next && branch.first <= branch.last && branch.last < line_.size(),
           "mbr-trie: a node's numbers are out of order");
    const bool has_list = line_.node(branch.first) == node;
    ensure(has_list || trie_.has_children(node), "mbr-trie: a node has nothing below it");
    if (!has_list) {
      ensure(trie_[trie_.children(node).front().node].first == branch.first,
             "mbr-trie: a node's numbers do not begin with its first child's");
    }
    next = branch.first;
    std::uint32_t live = 0;
    for (; next <= branch.last && (line_.is_free(next) || line_.node(next) == node); ++next) {
      live += line_.is_live(next);
    }
    ensure(live == branch.own, "mbr-trie: a node counts more or fewer entries than end at it");
    own += live;
    if (node == kTrieRoot) return;
    const Branch& above = trie_[trie_.parent(node)];
    ensure(covers(above.box, branch.box), "mbr-trie: a node's box exceeds its parent's");
    ensure(above.first <= branch.first && branch.last <= above.last,
           "mbr-trie: a node's numbers exceed its parent's");
  });
  ensure(own == line_.live(), "mbr-trie: an entry is numbered and not in the trie");
  for (std::size_t i = 1; i < levels.size(); ++i) {
    ensure(level_sizes_[i] == levels[i], "mbr-trie: a level's size is wrong");
  }
  std::vector<Position> path;
  std::size_t entries = 0;
  store_.for_each([&](SubscriptionId id) {
    store_.for_each_entry(id, [&](EntryId entry) {
      ++entries;
      const Number number = numbers_[entry];
      ensure(number < line_.size() && line_.is_live(number) && line_.entry(number) == entry,
             "mbr-trie: an entry's number belongs to another");
      path.clear();
      append_path(entry, path);
      const TrieNodeId node = trie_.find(path);
      ensure(node == line_.node(number), "mbr-trie: an entry stands at a node of other tokens");
      const FloatBox box = float_box(store_.bounds(id));
      ensure(covers(line_.box(number), box) && covers(box, line_.box(number)),
             "mbr-trie: an entry's box is not its subscription's");
      ensure(covers(trie_[node].box, box), "mbr-trie: an entry's box exceeds its node's");
    });
  });
  ensure(entries == line_.live(), "mbr-trie: holds more or fewer entries than the store");
}

}  // namespace nearcast
