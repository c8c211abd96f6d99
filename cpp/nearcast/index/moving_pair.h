/// Any match index together with any message index: in this way kinds that keep no messages serve
/// live and moving subscriptions.
#pragma once

#include <memory>

#include "nearcast/index/message_index.h"
#include "nearcast/index/moving_index.h"

namespace nearcast {

class MovingPair final : public MovingIndex {
 public:
  MovingPair(const SubscriptionStore& store, std::unique_ptr<MatchIndex> subscriptions,
             std::unique_ptr<MessageIndex> messages, const MessageStore& message_store)
      : MovingIndex(store), subscriptions_(std::move(subscriptions)), kept_(std::move(messages)) {
    attach(message_store);
  }

  void insert(SubscriptionId id) override { subscriptions_->insert(id); }
  void erase(SubscriptionId id) override { subscriptions_->erase(id); }
  void build(std::span<const SubscriptionId> ids) override { subscriptions_->build(ids); }
  void learn(const MessageSample& sample) override { subscriptions_->learn(sample); }
  std::vector<std::uint32_t> arrange(const ClauseRows& rows) const override {
    return subscriptions_->arrange(rows);
  }
  void prefetch(const Message& message) const override { subscriptions_->prefetch(message); }
  void match_group(std::span<const Message> messages, MatchScratch& scratch,
                   MatchSink& sink) const override {
    subscriptions_->match_group(messages, scratch, sink);
  }
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override {
    subscriptions_->match(message, scratch, sink);
  }

  void keep(MessageId id, MatchScratch& scratch, MatchSink& sink) override {
    subscriptions_->match(messages_->message(id), scratch, sink);
    kept_->insert(id);
  }
  void admit(MessageId id, MatchScratch&, MatchSink&) override { kept_->insert(id); }
  void drop(MessageId id) override { kept_->erase(id); }
  bool wants_all() override { return kept_->wants_all(); }
  void find(SubscriptionId id, std::vector<MessageId>& out) const override;
  void move(SubscriptionId id, const Area& to, SubscriptionStore& store,
            MoveChanges& changes) override;

  std::size_t memory_bytes() const override { return subscriptions_->memory_bytes(); }
  std::size_t message_bytes() const override { return kept_->memory_bytes(); }
  void check_invariants() const override {
    subscriptions_->check_invariants();
    kept_->check_invariants();
  }
  void save(ArchiveWriter& out) const override { subscriptions_->save(out); }
  void load(ArchiveReader& in) override { subscriptions_->load(in); }

 private:
  std::unique_ptr<MatchIndex> subscriptions_;
  std::unique_ptr<MessageIndex> kept_;
  std::vector<MessageId> proposed_;  ///< of move(); kept between calls
  std::vector<bool> was_;            ///< did the old area touch it?
};

/// The live messages that some clause of the subscription may match in the windows: each once, not
/// verified.
void propose_all(const SubscriptionStore& store, SubscriptionId id, const MessageIndex& messages,
                 std::span<const Rect> windows, std::vector<MessageId>& out);

}  // namespace nearcast
