/// A search that takes live messages in by slices and still answers for all of them at any moment:
/// it searches the index below it and looks through the messages that wait to be taken in
/// (model/message_backlog.h).
#pragma once

#include <memory>
#include <vector>

#include "nearcast/topk/search/message_search.h"

namespace nearcast {

class BacklogSearch final : public MessageSearch {
 public:
  BacklogSearch(TopState& state, std::unique_ptr<MessageSearch> indexed)
      : MessageSearch(state), backlog_(state.backlog), indexed_(std::move(indexed)) {}

  void catch_up(std::size_t count) {  ///< with at most so many messages
    backlog_.take(count, [&](MessageId id) { indexed_->insert(id); });
  }
  /// Take in again, the oldest first, all messages that do not wait.
  void insert_all();

  void insert(MessageId id) override {
    if (!backlog_.has(id)) indexed_->insert(id);
  }
  void erase(MessageId id, bool is_oldest) override {
    backlog_.has(id) ? backlog_.leave(id) : indexed_->erase(id, is_oldest);
  }
  void clear() override { indexed_->clear(); }
  void best(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
            WorkCounters& work) override;

  std::size_t memory_bytes() const override { return indexed_->memory_bytes(); }
  void check_invariants() const override { indexed_->check_invariants(); }

 private:
  void best_of_all(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
                   WorkCounters& work);
  void add_waiting(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
                   WorkCounters& work) const;
  void keep_best(std::size_t count, std::vector<Held>& out) const;

  MessageBacklog& backlog_;
  std::unique_ptr<MessageSearch> indexed_;
  FactReader facts_;
};

}  // namespace nearcast
