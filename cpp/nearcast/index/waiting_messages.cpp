#include "nearcast/index/waiting_messages.h"

#include "nearcast/model/semantics.h"

namespace nearcast {
namespace {

/// For each clause of the subscription, the bits that the outline of a matching message has.
std::vector<Outline> wanted_by(const SubscriptionStore& subscriptions, SubscriptionId id) {
  std::vector<Outline> wanted;
  subscriptions.for_each_entry(id, [&](EntryId entry) {
    wanted.push_back(outline_of(subscriptions.clause(entry).positive));
  });
  return wanted;
}

}  // namespace

void find_waiting(const SubscriptionStore& subscriptions, SubscriptionId id,
                  const MessageStore& messages, const MessageBacklog& backlog,
                  std::vector<MessageId>& out) {
  if (backlog.empty()) return;
  const Rect bounds = subscriptions.bounds(id);
  backlog.for_each(wanted_by(subscriptions, id), [&](MessageId message) {
    if (backlog.may_touch(message, bounds) && matches(subscriptions, id, messages.message(message)))
      out.push_back(message);
  });
}

void move_waiting(const SubscriptionStore& subscriptions, SubscriptionId id, const Area& from,
                  const MessageStore& messages, const MessageBacklog& backlog,
                  MoveChanges& changes) {
  if (backlog.empty()) return;
  const Rect before = bounds_of(from), after = subscriptions.bounds(id);
  backlog.for_each(wanted_by(subscriptions, id), [&](MessageId message) {
    if (!backlog.may_touch(message, before) && !backlog.may_touch(message, after)) return;
    const Place place = messages.place(message);
    const bool was = area_touches(from, place), is = area_touches(subscriptions, id, place);
    if (was == is || !holds(subscriptions, id, messages.tokens(message))) return;
    (is ? changes.gained : changes.lost).push_back(message);
  });
}

}  // namespace nearcast
