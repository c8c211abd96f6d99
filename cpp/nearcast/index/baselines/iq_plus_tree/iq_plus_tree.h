/// IQ+-Tree: an IQ-Tree whose cells also hold the live messages that pass through them.
/// [AP §5.2.1 IQ+-Tree, §4.2.5 incremental evaluation]
///
/// A message is filed in every cell that it touches, from the root down, under each of its words.
/// A subscription therefore finds all it could match in the cells it is attached to, under its
/// least frequent keyword. When it moves, the messages of its old cells and of its new ones are
/// judged by "in the new area and not in the old" and the reverse; its cells are chosen anew by the
/// cost rule.
///
/// The paper says only that messages follow the same structure and are indexed into all cells that
/// they penetrate. Rebuilt from that, without losses: a cell that is made later takes its messages
/// over from its parent, the root from all that are alive.
#pragma once

#include "nearcast/index/baselines/iq_tree/iq_tree.h"
#include "nearcast/index/parts/message_lists/move_judge.h"

namespace nearcast {

class IqPlusTree final : public MovingIndex, private CellWatcher {
 public:
  IqPlusTree(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters() { return IqTree::parameters(); }

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
  using Directory = KeyDirectory<>;

  void created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell) override;
  void freed(QuadNodeId node) override;
  void cleared() override;
  void file(QuadNodeId node, MessageId id);
  void file_under(QuadNodeId node, Token key, MessageId id);
  void judge(SubscriptionId id);
  /// Calls visit(list) for each list where messages may be that the entry matches.
  template <typename Visit>
  void for_each_list(EntryId entry, Visit&& visit) const;

  IqTree subscriptions_;
  Directory directory_;  ///< cell and word of each list
  MessageLists lists_;
  MoveJudge judge_;
  std::vector<MessageId> passing_;  ///< of created(); kept between calls
};

}  // namespace nearcast
