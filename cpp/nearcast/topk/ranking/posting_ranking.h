/// Lists of messages by token.
#pragma once

#include "nearcast/base/list_arena.h"
#include "nearcast/base/visit_stamps.h"
#include "nearcast/topk/ranking/message_ranking.h"

namespace nearcast {

class PostingRanking final : public MessageRanking {
 public:
  using MessageRanking::MessageRanking;

  void insert(MessageId id) override;
  void erase(MessageId id) override;
  void clear() override;
  void best(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
            WorkCounters& work) override;

  std::size_t memory_bytes() const override {
    return lists_.memory_bytes() + postings_.memory_bytes();
  }
  void check_invariants() const override;

 private:
  Array<ListHandle> lists_;  ///< by token
  ListArena<MessageId> postings_;
  VisitStamps seen_;
};

}  // namespace nearcast
