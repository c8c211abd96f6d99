/// RQ+-Tree: an RQ-Tree whose lists and cells also hold the live messages that pass through them.
/// [AP §5.2.1 RQ+-Tree, §4.2.5 incremental evaluation]
///
/// A message is filed under each of its words; where the word's subscriptions are a quadtree, also
/// in every cell of it that the message touches. A subscription finds all it could match under its
/// least frequent keyword, in the cells it is attached to. When it moves, the messages of its old
/// cells and of its new ones are judged by "in the new area and not in the old" and the reverse;
/// its cells are chosen anew by the cost rule.
///
/// The paper says only that messages follow the same structure and are indexed into all cells that
/// they penetrate. Rebuilt from that, without losses: words that no subscription has yet are filed
/// too, and a cell that is made later takes its messages over from its parent, a root from the list
/// of its word.
#pragma once

#include "nearcast/index/baselines/rq_tree/rq_tree.h"
#include "nearcast/index/parts/message_lists/move_judge.h"

namespace nearcast {

class RqPlusTree final : public MovingIndex, private CellWatcher {
 public:
  RqPlusTree(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters() { return RqTree::parameters(); }

  void insert(SubscriptionId id) override { subscriptions_.insert(id); }
  void erase(SubscriptionId id) override { subscriptions_.erase(id); }
  void build(std::span<const SubscriptionId> ids) override { subscriptions_.build(ids); }
  void learn(const MessageSample& sample) override { subscriptions_.learn(sample); }
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override {
    subscriptions_.match(message, scratch, sink);
  }

  void attach(const MessageStore& messages) override;
  void keep(MessageId id, MatchScratch& scratch, MatchSink& sink) override;
  void drop(MessageId id) override;
  void find(SubscriptionId id, std::vector<MessageId>& out) const override;
  void move(SubscriptionId id, const Area& to, SubscriptionStore& store,
            MoveChanges& changes) override;

  std::size_t memory_bytes() const override { return subscriptions_.memory_bytes(); }
  std::size_t message_bytes() const override;
  void check_invariants() const override;

 private:
  void created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell) override;
  void freed(QuadNodeId node) override;
  void cleared() override;
  void judge(SubscriptionId id);
  /// The list of a word: every message that has it. Also that of the root of the word's tree.
  static MessageLists::Number list_of(Token key) {
    return key == kUnknownToken ? 0 : 2 * raw(key) + 2;
  }
  MessageLists::Number list_of(QuadNodeId node) const {
    return keys_[raw(node)] == 0 ? 2 * raw(node) + 1 : keys_[raw(node)] - 1;
  }
  /// Calls visit(list) for each list that the message belongs to.
  template <typename Visit>
  void for_each_list(const Message& message, Visit&& visit) const;
  /// Calls visit(list) for each list where messages may be that the entry matches.
  template <typename Visit>
  void for_each_list(EntryId entry, Visit&& visit) const;

  RqTree subscriptions_;
  Array<MessageLists::Number> keys_;  ///< by node: of a root, 1 + the list of its word; others: 0
  MessageLists lists_;
  MoveJudge judge_;
  std::vector<MessageId> passing_;  ///< of created(); kept between calls
};

}  // namespace nearcast
