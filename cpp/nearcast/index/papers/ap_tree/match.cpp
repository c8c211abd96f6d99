#include <algorithm>

#include "nearcast/index/papers/ap_tree/probe.h"
#include "nearcast/index/papers/ap_tree/routing.h"
#include "nearcast/model/semantics.h"

namespace nearcast {

void ApTree::read_positions(TokenSpan tokens, std::vector<Position>& positions) const {
  positions.clear();
  for (const Token token : tokens) {
    const Position position = order_.position(token);
    if (position != TokenOrder::kUnplaced) positions.push_back(position);
  }
  std::sort(positions.begin(), positions.end());
}

ApTree::Probe ApTree::probe_for(const Message& message, MatchScratch& scratch,
                                MatchSink& sink) const {
  read_positions(message.tokens, scratch.positions);
  scratch.queue.clear();
  const Place& place = message.place;
  return {message,
          scratch.positions,
          {ap::CoarseBox(place.part[0]), ap::CoarseBox(place.part[1])},
          ~signature_of(message.tokens),
          scratch,
          sink};
}

void ApTree::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  Probe probe = probe_for(message, scratch, sink);
  visit(ap::kRoot, 0, probe);
  verify(probe);
}

void ApTree::visit(NodeRef ref, std::uint32_t first_token, Probe& probe) const {
  ++probe.sink.work.nodes_visited;
  const ap::Node& node = nodes_[ref];
  if (node.kind == ap::NodeKind::kLeaf) {
    scan(node, probe);
    return;
  }
  for_each_hit(node, probe.positions, probe.message.place, first_token,
               [&](std::uint32_t slot, std::uint32_t next_token) {
                 const NodeRef below = child(node, slot);
                 if (below != ap::kNoNode) visit(below, next_token, probe);
               });
}

void ApTree::scan(const ap::Node& leaf, Probe& probe) const {
  probe.sink.work.candidates += leaf.postings.size;
  const bool has_two_parts = probe.message.place.parts == 2;
  for_each_posting(leaf, [&](const ap::Posting& posting) {
    bool passes = overlaps(posting.box, probe.box[0]);
    if (has_two_parts) passes |= overlaps(posting.box, probe.box[1]);
    if (!(passes & ((posting.signature & probe.absent) == 0))) return;
    store_.prefetch(posting.entry, 0);
    probe.scratch.queue.push_back(raw(posting.entry));
  });
}

/// The store is elsewhere in memory: it is prefetched for what passed the leaves, and read later.
void ApTree::verify(Probe& probe) const {
  constexpr std::size_t kAhead = 8;
  const auto& queue = probe.scratch.queue;
  const auto entry_at = [&](std::size_t i) {
    return EntryId{static_cast<std::uint32_t>(queue[i])};
  };
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (i + kAhead < queue.size()) store_.prefetch(entry_at(i + kAhead), 1);
    const EntryId entry = entry_at(i);
    if (!matches(store_, entry, probe.message, &probe.scratch.shapes)) continue;
    const SubscriptionId id = store_.owner(entry);
    // A point passes through one cell per grid and so meets an entry once; a box may meet it again.
    const bool is_new = probe.message.place.is_point ? probe.scratch.first_report(store_, entry)
                                                     : probe.scratch.visited.first_visit(raw(id));
    if (is_new) probe.sink.accept(id);
  }
}

}  // namespace nearcast
