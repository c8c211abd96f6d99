/// Many lists of live messages, each with a coarse place: the m-lists of the moving kinds.
/// [AP §4.2.2 m-list, §4.2.3 lazy deletion]
///
/// A message may be in dozens of lists, and the lists may have been divided since it was inserted.
/// Its copies are therefore not searched when it leaves. Each copy carries the number of the life
/// that it belongs to, and that life has ended. Each departure pays for a short stretch of a sweep
/// that goes round all lists and removes dead copies; so at most about a third of all copies are
/// dead, and no departure pays for a long list.
///
/// Lists are numbered by their user, densely; a list that was never written to is empty.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/geo/float_box.h"
#include "nearcast/model/message_store.h"
#include "nearcast/text/signature.h"

namespace nearcast {

struct MessagePosting {
  float lon, lat;  ///< nearest to the point; of a box: not a number, which is outside of nothing
  MessageId id;
  std::uint32_t life;
  std::uint32_t signature;  ///< of its words; a clause that it matches has no other bits

  /// May the message be in the box? A box message always may.
  bool may_be_in(const FloatBox& box) const {
    return !((lon < box.west) | (lon > box.east) | (lat < box.south) | (lat > box.north));
  }
};

class MessageLists {
 public:
  using Number = std::uint32_t;

  void attach(const MessageStore& messages) { messages_ = &messages; }
  const MessageStore& messages() const { return *messages_; }

  void start(MessageId id);  ///< a new life, in no list yet
  void append(Number list, MessageId id);
  /// The message is gone from all lists. Calls emptied(list) for each list that the sweep leaves
  /// empty.
  template <typename Emptied>
  void end(MessageId id, Emptied&& emptied);
  void clear(Number list);
  void clear();       ///< all lists; lives go on
  void forget_all();  ///< all lists are empty, and all lives are over

  bool is_alive(const MessagePosting& posting) const {
    return lives_[raw(posting.id)].number == posting.life;
  }
  std::uint32_t copies(MessageId id) const { return lives_[raw(id)].copies; }
  /// Dead copies included: is_alive() tells them apart.
  std::span<const MessagePosting> view(Number list) const {
    return list < lists_.size() ? postings_.view(lists_[list]) : std::span<const MessagePosting>{};
  }
  /// Appends the messages of the list whose lives have not ended.
  void copy_to(std::vector<MessageId>& out, Number list) const;
  /// Calls visit(id) for each message whose life has started and not ended.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t slot = 0; slot < lives_.size(); ++slot) {
      if (lives_[slot].number % 2 != 0) visit(MessageId{slot});
    }
  }

  std::size_t memory_bytes() const {
    return lives_.memory_bytes() + lists_.memory_bytes() + postings_.memory_bytes();
  }
  void check() const;  ///< throws an internal error if copies are counted wrongly

 private:
  struct Life {
    std::uint32_t number;  ///< odd: the life has not ended
    std::uint32_t copies;  ///< of this life, in all lists
    std::uint32_t signature;
  };
  /// How many copies the sweep looks at for each copy of a departing message.
  static constexpr std::uint64_t kSweep = 4;

  template <typename Emptied>
  void sweep(std::uint64_t steps, Emptied& emptied);
  void forget(const MessagePosting& posting);

  const MessageStore* messages_ = nullptr;
  Array<Life> lives_;  ///< by message
  Array<ListHandle> lists_;
  ListArena<MessagePosting> postings_;
  std::uint64_t dead_ = 0;  ///< copies of lives that are over
  Number swept_list_ = 0;   ///< where the sweep goes on
  std::uint32_t swept_position_ = 0;
};

template <typename Emptied>
void MessageLists::end(MessageId id, Emptied&& emptied) {
  Life& life = lives_[raw(id)];
  ensure(life.number % 2 != 0, "message lists: a message goes that is not here");
  const std::uint64_t copies = life.copies;
  life = {life.number + 1, 0, 0};
  dead_ += copies;
  sweep(kSweep * copies, emptied);
}

/// A step is a copy looked at, or a list.
template <typename Emptied>
void MessageLists::sweep(std::uint64_t steps, Emptied& emptied) {
  for (; steps > 0 && dead_ > 0; --steps) {
    if (swept_list_ >= lists_.size()) swept_list_ = swept_position_ = 0;
    ListHandle& list = lists_[swept_list_];
    if (swept_position_ >= list.size) {
      ++swept_list_;
      swept_position_ = 0;
    } else if (is_alive(postings_.view(list)[swept_position_])) {
      ++swept_position_;
    } else {
      --dead_;
      postings_.swap_remove(list, swept_position_);
      if (list.size == 0) emptied(swept_list_);
    }
  }
}

}  // namespace nearcast
