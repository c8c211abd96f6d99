#include <map>
#include <set>

#include "nearcast/index/papers/ap_plus_tree/moving_tree.h"
#include "nearcast/index/papers/ap_tree/routing.h"

namespace nearcast::ap {

/// Is each message in a list on the path to every leaf that it reaches?
class MovingTree::MessageInspector {
 public:
  explicit MessageInspector(const MovingTree& tree) : tree_(tree) {
    for (Number list = 0; list < 2 * tree.nodes_.size(); ++list) {
      std::vector<MessageId> messages;
      tree.lists_.copy_to(messages, list);
      for (const MessageId id : messages) {
        ensure(places_.emplace(list, id).second, "ap+-tree: a message is in a list twice");
      }
    }
  }

  void inspect(MessageId id) const {
    std::vector<Position> positions;
    const Message message = tree_.lists_.messages().message(id);
    tree_.read_positions(message.tokens, positions);
    inspect(kRoot, 0, {id, positions, message.place, nullptr}, false);
  }

 private:
  void inspect(NodeRef ref, std::uint32_t first_token, const Passage& passage, bool is_held) const {
    const Node& node = tree_.nodes_[ref];
    is_held = is_held || is_in(own(ref), passage.id);
    if (node.kind == NodeKind::kLeaf) {
      return ensure(is_held, "ap+-tree: a message is not in a leaf that it reaches");
    }
    bool meets_somebody = false;
    tree_.for_each_hit(node, passage.positions, passage.place, first_token,
                       [&](std::uint32_t slot, std::uint32_t next_token) {
                         const NodeRef below = tree_.child(node, slot);
                         if (below == kNoNode) {
                           return ensure(is_held || slot == node.dummy(),
                                         "ap+-tree: a message did not make its cell");
                         }
                         meets_somebody = true;
                         inspect(below, next_token, passage, is_held);
                       });
    ensure(is_held || meets_somebody || is_in(parked(ref), passage.id),
           "ap+-tree: a message is not parked");
  }

  bool is_in(Number list, MessageId id) const { return places_.contains({list, id}); }

  const MovingTree& tree_;
  std::set<std::pair<Number, MessageId>> places_;
};

void MovingTree::check_homes() const {
  std::map<EntryId, Home> homes;
  for (NodeRef ref = kRoot; ref < nodes_.size(); ++ref) {
    if (nodes_[ref].kind != NodeKind::kLeaf) continue;
    for_each_posting(nodes_[ref], [&](const Posting& posting) {
      homes[posting.entry].add(ref);
      const Rect& bounds = store_.bounds(store_.owner(posting.entry));
      ensure(homes_[posting.entry].copies == 1 || !covers(seats_[ref].space, bounds),
             "ap+-tree: an entry is elsewhere, too, though it lies in the space of a leaf");
    });
  }
  for (const auto& [entry, home] : homes) {
    ensure(homes_[entry].copies == home.copies && homes_[entry].leaves == home.leaves,
           "ap+-tree: an entry's home is not where it is");
  }
}

void MovingTree::check_messages() const {
  lists_.check();
  const MessageInspector inspector(*this);
  std::size_t kept = 0;
  lists_.for_each([&](MessageId id) {
    ++kept;
    inspector.inspect(id);
  });
  ensure(kept == kept_, "ap+-tree: messages are counted wrongly");
}

}  // namespace nearcast::ap
