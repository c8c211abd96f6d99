/// Which messages does a subscription gain and lose when it moves? Decided message by message, for
/// the lists that an index passes to it.
/// [AP §4.2.5, Alg. 6]
///
/// Departs from the paper: it subtracts regions, which are not rectangles then. Here a message is
/// gained if it is *in the new area and not in the old*, and lost the other way round. So it does
/// not matter in which lists a message is found, nor in how many: finish() keeps each once.
#pragma once

#include <utility>
#include <vector>

#include "nearcast/index/moving_index.h"
#include "nearcast/index/parts/message_lists/message_lists.h"

namespace nearcast {

class MoveJudge {
 public:
  /// `to` has to stay until finish(); the area in the store may change after this.
  void start(const SubscriptionStore& store, SubscriptionId id, const Area& to,
             MoveChanges& changes);

  /// Is nothing gained or lost in this part of the world, whatever there is? (Case 1)
  bool is_unchanged_in(const Rect& region) const {
    return are_boxes_ && covers(from_bounds_, region) && covers(to_bounds_, region);
  }
  /// Looks through a list of messages for those that this clause concerns.
  void see(const MessageLists& lists, MessageLists::Number list, const Clause& clause) const;
  /// The same, unless this list was seen for this entry since the start or forget_seen().
  void see_once(const MessageLists& lists, MessageLists::Number list, EntryId entry,
                const Clause& clause);
  void forget_seen() { seen_.clear(); }  ///< the numbers of lists have changed
  void finish();

 private:
  bool may_change(const MessagePosting& posting) const {
    const bool is_kept = (posting.lon > kept_.west) & (posting.lon < kept_.east) &
                         (posting.lat > kept_.south) & (posting.lat < kept_.north);
    return (!is_kept) & (posting.may_be_in(outer_from_) | posting.may_be_in(outer_to_));
  }

  MoveChanges* changes_ = nullptr;
  std::size_t gained_before_ = 0, lost_before_ = 0;  ///< what was in changes_ at the start
  std::vector<std::pair<EntryId, MessageLists::Number>> seen_;
  Area from_;
  const Area* to_ = nullptr;
  Rect from_bounds_, to_bounds_;
  bool are_boxes_ = false;          ///< both areas are their bounds
  FloatBox outer_from_, outer_to_;  ///< hold the areas
  FloatBox kept_;                   ///< whatever is strictly inside is in both areas
};

/// Appends the living messages of a list that match the entry.
void find_in(const SubscriptionStore& store, EntryId entry, const MessageLists& lists,
             MessageLists::Number list, std::vector<MessageId>& out);

/// Removes duplicates from out[from, …).
void keep_each_once(std::vector<MessageId>& out, std::size_t from);

}  // namespace nearcast
