/// Answers of a moving index for messages that it has not taken in yet (model/message_backlog.h).
#pragma once

#include <vector>

#include "nearcast/index/moving_index.h"
#include "nearcast/model/message_backlog.h"

namespace nearcast {

/// Appends the messages that wait and match the subscription, each once.
void find_waiting(const SubscriptionStore& subscriptions, SubscriptionId id,
                  const MessageStore& messages, const MessageBacklog& backlog,
                  std::vector<MessageId>& out);

/// Appends which of them the subscription gained and lost when it moved from this area to the one
/// that it has now.
void move_waiting(const SubscriptionStore& subscriptions, SubscriptionId id, const Area& from,
                  const MessageStore& messages, const MessageBacklog& backlog,
                  MoveChanges& changes);

}  // namespace nearcast
