/// AP+-Tree: subscriptions that move and messages that stay, in one AP-Tree. [AP §4]
///
/// The tree itself is ap_plus_tree/moving_tree.h. With messages = keyword or space it keeps only
/// the subscriptions, and messages lie in a grid beside it, by word and cell or by cell and word:
/// the variants AP+k and AP+s [AP §5.2.2].
#pragma once

#include <optional>

#include "nearcast/index/baselines/grid_index/grid_messages.h"
#include "nearcast/index/moving_index.h"
#include "nearcast/index/papers/ap_plus_tree/moving_tree.h"

namespace nearcast {

class ApPlusTree final : public MovingIndex {
 public:
  ApPlusTree(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters();

  void insert(SubscriptionId id) override { tree_.insert(id); }
  void erase(SubscriptionId id) override { tree_.erase(id); }
  void build(std::span<const SubscriptionId> ids) override;
  void learn(const MessageSample& sample) override { tree_.learn(sample); }
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override {
    tree_.match(message, scratch, sink);
  }

  void attach(const MessageStore& messages) override;
  void keep(MessageId id, MatchScratch& scratch, MatchSink& sink) override;
  void drop(MessageId id) override;
  bool wants_all() override { return tree_.has_forgotten(); }
  void find(SubscriptionId id, std::vector<MessageId>& out) const override;
  void move(SubscriptionId id, const Area& to, SubscriptionStore& store,
            MoveChanges& changes) override;

  std::size_t memory_bytes() const override { return tree_.memory_bytes(); }
  std::size_t message_bytes() const override {
    return beside_ ? beside_->memory_bytes() : tree_.message_bytes();
  }
  void check_invariants() const override;

 private:
  ap::MovingTree tree_;
  std::optional<GridMessages> beside_;  ///< messages that are not in the tree
  MoveJudge judge_;
};

}  // namespace nearcast
