/// What one event did to the top lists.
#pragma once

#include <vector>

#include "nearcast/base/ids.h"
#include "nearcast/model/change.h"

namespace nearcast {

struct TopChange {
  SubscriptionId subscription;
  MessageId message;
  ChangeKind kind;
  Reason reason;
  double score;  ///< of a removed message: the one it was held with
};

using TopChanges = std::vector<TopChange>;

}  // namespace nearcast
