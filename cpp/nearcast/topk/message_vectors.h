/// What a ranking needs of live messages besides what their store has: the length of each vector,
/// and which message is the oldest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcast/base/array.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/model/message_store.h"
#include "nearcast/model/top_score.h"

namespace nearcast {

class MessageVectors {
 public:
  explicit MessageVectors(const MessageStore& messages) : messages_(messages) {}

  std::size_t size() const { return size_; }
  std::size_t slots() const { return lengths_.size(); }  ///< ids are below this
  bool has(MessageId id) const { return raw(id) < slots() && is_here_[raw(id)] != 0; }
  double length(MessageId id) const { return lengths_[raw(id)]; }
  void prefetch(MessageId id) const { prefetch_line(&lengths_[raw(id)]); }

  void add(MessageId id, const TokenWeights& weights);
  void remove(MessageId id);
  void reweigh(const TokenWeights& weights);

  /// Is every other message here newer? Asked of a message that is here.
  bool is_oldest(MessageId id);

  /// Calls visit(id) for each message.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
      if (is_here_[slot] != 0) visit(MessageId{slot});
    }
  }

  /// The same, oldest first.
  template <typename Visit>
  void for_each_by_age(Visit&& visit) const {
    for (std::size_t i = first_; i < queue_.size(); ++i) {
      if (is_waiting(queue_[i])) visit(queue_[i].id);
    }
  }

  std::size_t memory_bytes() const {
    return lengths_.memory_bytes() + is_here_.memory_bytes() + queue_.memory_bytes();
  }

 private:
  struct Waiting {
    MessageId id;
    std::uint32_t number;  ///< its lower half: slots are re-used
  };
  bool is_waiting(const Waiting& entry) const {
    return has(entry.id) && static_cast<std::uint32_t>(messages_.number(entry.id)) == entry.number;
  }

  const MessageStore& messages_;
  std::size_t size_ = 0;
  Array<double> lengths_;
  Array<std::uint8_t> is_here_;
  Array<Waiting> queue_;   ///< oldest first, with some that are gone
  std::size_t first_ = 0;  ///< all before it are gone
};

}  // namespace nearcast
