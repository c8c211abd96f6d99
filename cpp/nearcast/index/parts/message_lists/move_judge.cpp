#include "nearcast/index/parts/message_lists/move_judge.h"

#include <algorithm>

#include "nearcast/model/semantics.h"

namespace nearcast {
namespace {

bool is_box(const Area& area) {
  const Rect* box = std::get_if<Rect>(&area);
  return box != nullptr && box->west <= box->east;
}

}  // namespace

void MoveJudge::start(const SubscriptionStore& store, SubscriptionId id, const Area& to,
                      MoveChanges& changes) {
  seen_.clear();
  changes_ = &changes;
  gained_before_ = changes.gained.size();
  lost_before_ = changes.lost.size();
  from_ = store.area(id);
  to_ = &to;
  from_bounds_ = store.bounds(id);
  to_bounds_ = bounds_of(to);
  outer_from_ = float_box(from_bounds_);
  outer_to_ = float_box(to_bounds_);
  are_boxes_ = is_box(from_) && is_box(to);
  kept_ = kNoFloatBox;
  if (!are_boxes_) return;
  // Rounded inward, and compared strictly: a point that rounds to the border may lie outside.
  kept_ = {round_up(std::max(from_bounds_.west, to_bounds_.west)),
           round_up(std::max(from_bounds_.south, to_bounds_.south)),
           round_down(std::min(from_bounds_.east, to_bounds_.east)),
           round_down(std::min(from_bounds_.north, to_bounds_.north))};
}

void MoveJudge::see(const MessageLists& lists, MessageLists::Number list,
                    const Clause& clause) const {
  const MessageStore& messages = lists.messages();
  const std::uint32_t signature = signature_of(clause.positive);
  for (const MessagePosting& posting : lists.view(list)) {
    if ((signature & ~posting.signature) != 0 || !may_change(posting)) continue;
    if (!lists.is_alive(posting)) continue;
    const Place place = messages.place(posting.id);
    const bool was = area_touches(from_, place), is = area_touches(*to_, place);
    if (was == is || !holds(clause, messages.tokens(posting.id))) continue;
    (is ? changes_->gained : changes_->lost).push_back(posting.id);
  }
}

void MoveJudge::see_once(const MessageLists& lists, MessageLists::Number list, EntryId entry,
                         const Clause& clause) {
  if (std::ranges::find(seen_, std::pair{entry, list}) != seen_.end()) return;
  seen_.emplace_back(entry, list);
  see(lists, list, clause);
}

void MoveJudge::finish() {
  keep_each_once(changes_->gained, gained_before_);
  keep_each_once(changes_->lost, lost_before_);
}

void find_in(const SubscriptionStore& store, EntryId entry, const MessageLists& lists,
             MessageLists::Number list, std::vector<MessageId>& out) {
  const FloatBox bounds = float_box(store.bounds(store.owner(entry)));
  const std::uint32_t signature = signature_of(store.clause(entry).positive);
  for (const MessagePosting& posting : lists.view(list)) {
    if ((signature & ~posting.signature) != 0 || !posting.may_be_in(bounds)) continue;
    if (!lists.is_alive(posting)) continue;
    if (matches(store, entry, lists.messages().message(posting.id))) out.push_back(posting.id);
  }
}

void keep_each_once(std::vector<MessageId>& out, std::size_t from) {
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(from);
  std::sort(begin, out.end());
  out.erase(std::unique(begin, out.end()), out.end());
}

}  // namespace nearcast
