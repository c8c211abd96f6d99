#include "nearcast/topk/message_vectors.h"

#include <algorithm>

namespace nearcast {

void MessageVectors::add(MessageId id, const TokenWeights& weights) {
  if (raw(id) >= slots()) {
    lengths_.resize(raw(id) + 1);
    is_here_.resize(raw(id) + 1);
  }
  lengths_[raw(id)] = vector_length(messages_.tokens(id), messages_.counts(id), weights);
  is_here_[raw(id)] = 1;
  ++size_;
  // Half of the queue is gone at the latest when it is shortened, so each entry is moved O(1)
  // times.
  if (queue_.size() > 2 * size_ + 64) {
    const auto kept = std::remove_if(queue_.begin(), queue_.end(),
                                     [&](const Waiting& entry) { return !is_waiting(entry); });
    queue_.resize(static_cast<std::size_t>(kept - queue_.begin()));
    first_ = 0;
  }
  queue_.push_back({id, static_cast<std::uint32_t>(messages_.number(id))});
}

void MessageVectors::remove(MessageId id) {
  is_here_[raw(id)] = 0;
  --size_;
}

void MessageVectors::reweigh(const TokenWeights& weights) {
  for_each([&](MessageId id) {
    lengths_[raw(id)] = vector_length(messages_.tokens(id), messages_.counts(id), weights);
  });
}

bool MessageVectors::is_oldest(MessageId id) {
  while (!is_waiting(queue_[first_])) ++first_;
  return queue_[first_].id == id;
}

}  // namespace nearcast
