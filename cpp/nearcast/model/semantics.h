/// What is a match, for one pair? This is the only definition in the core: an index proposes, and
/// these functions decide, unless the index's structure proves the match and its header says so.
#pragma once

#include "nearcast/model/message.h"
#include "nearcast/model/subscription_store.h"

namespace nearcast {

inline bool holds(const Clause& clause, TokenSpan tokens) {
  return contains_all(tokens, clause.positive) && !contains_any(tokens, clause.negative);
}

/// Do the tokens satisfy one of the subscription's clauses?
bool holds(const SubscriptionStore& store, SubscriptionId id, TokenSpan tokens);

/// Do the subscription's area and the message's place share a point? With a memo, shapes that
/// several subscriptions have are decided once for a place.
bool area_touches(const SubscriptionStore& store, SubscriptionId id, const Place& place,
                  ShapeMemo* memo = nullptr);
/// The same, if the place is known to touch the bounds of the area.
inline bool shape_touches(const SubscriptionStore& store, SubscriptionId id, const Place& place,
                          ShapeMemo* memo) {
  return store.bounds_are_exact(id) || store.shapes().touches(store.shape(id), place, memo);
}
bool area_touches(const Area& area, const Place& place);  ///< of an area not in a store
bool area_touches(const AreaPart& part, const Place& place);

/// Does the message match the subscription through this clause?
inline bool matches(const SubscriptionStore& store, EntryId entry, const Message& message,
                    ShapeMemo* memo = nullptr) {
  return holds(store.clause(entry), message.tokens) &&
         area_touches(store, store.owner(entry), message.place, memo);
}

/// Does the message match the subscription through any clause?
bool matches(const SubscriptionStore& store, SubscriptionId id, const Message& message,
             ShapeMemo* memo = nullptr);

}  // namespace nearcast
