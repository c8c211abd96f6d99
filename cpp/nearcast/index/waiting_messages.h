/// Subscriptions and the messages that their index has still to take in (model/message_backlog.h):
/// what an index that keeps messages would have said of them.
#pragma once

#include <vector>

#include "nearcast/index/moving_index.h"
#include "nearcast/model/message_backlog.h"

namespace nearcast {

/// Appends the messages that wait and match the subscription, each once.
void find_waiting(const SubscriptionStore& subscriptions, SubscriptionId id,
                  const MessageStore& messages, const MessageBacklog& backlog,
                  std::vector<MessageId>& out);

/// Appends what the subscription gains and loses of them, having moved from this area to the one
/// that it has now.
void move_waiting(const SubscriptionStore& subscriptions, SubscriptionId id, const Area& from,
                  const MessageStore& messages, const MessageBacklog& backlog,
                  MoveChanges& changes);

}  // namespace nearcast
