/// A set of match subscriptions whose index keeps live messages too.
#include <algorithm>
#include <memory>

#include "nearcast/index/moving_pair.h"
#include "nearcast/index/ours/message_postings/message_postings.h"
#include "nearcast/index/waiting_messages.h"
#include "nearcast/modes/match_set.h"

namespace nearcast {

void MatchSet::hold(const MessageStore& messages) {
  moving_ = dynamic_cast<MovingIndex*>(index_.get());
  if (moving_ != nullptr) {
    moving_->attach(messages);
  } else {
    auto pair = std::make_unique<MovingPair>(store_, std::move(index_),
                                             std::make_unique<MessagePostings>(messages), messages);
    moving_ = pair.get();
    index_ = std::move(pair);
  }
  messages_ = &messages;
  backlog_.start(messages);
}

void MatchSet::catch_up(std::size_t count) {
  if (backlog_.empty()) return;
  ScratchPool<BatchScratch>::Loan loan(scratches_);
  backlog_.take(count, [&](MessageId id) {
    (*loan).sink.clear();
    (*loan).match.visited.start(store_.slots());
    moving_->keep(id, (*loan).match, (*loan).sink);
    if (moving_->wants_all()) backlog_.start(*messages_);
  });
}

void MatchSet::keep(MessageId id, BatchScratch& scratch) {
  if (backlog_.has(id)) {  // it waits behind older ones: they are taken in by age
    match(messages_->message(id), scratch);
    return;
  }
  if (is_plain()) {
    scratch.sink.clear();
    scratch.match.visited.start(store_.slots());
    moving_->keep(id, scratch.match, scratch.sink);
  } else {
    match(messages_->message(id), scratch);
    scratch.unwanted.clear();
    scratch.match.visited.start(store_.slots());
    moving_->admit(id, scratch.match, scratch.unwanted);
  }
  if (moving_->wants_all()) backlog_.start(*messages_);
}

/// Of the messages from `first` on, those that the subscription's condition accepts.
void MatchSet::retain(SubscriptionId id, std::vector<MessageId>& found, std::size_t first) const {
  if (!conditions_.has(id) || found.size() == first) return;
  ScratchPool<BatchScratch>::Loan loan(scratches_);
  const auto begin = found.begin() + static_cast<std::ptrdiff_t>(first);
  found.erase(std::remove_if(begin, found.end(),
                             [&](MessageId message) {
                               const Message said = messages_->message(message);
                               return !conditions_.accepts(
                                   id, (*loan).facts.read(said, words_, terms_), &(*loan).excluded);
                             }),
              found.end());
}

void MatchSet::drop(MessageId id) {
  if (backlog_.has(id)) {
    backlog_.leave(id);
  } else {
    moving_->drop(id);
  }
}

void MatchSet::find(SubscriptionId id, std::vector<MessageId>& out) const {
  const std::size_t first = out.size();
  moving_->find(id, out);
  find_waiting(store_, id, *messages_, backlog_, out);
  retain(id, out, first);
}

void MatchSet::move(SubscriptionId id, const Area& given, MoveChanges& changes) {
  changes.clear();
  // Many messages may be compared with it, some before it is in the store.
  Area planted;
  if (kind_of(given) >= AreaKind::kPolygon) {
    planted = given;
    plant_trees(planted);
  }
  const Area& area = kind_of(given) >= AreaKind::kPolygon ? planted : given;
  if (backlog_.empty()) {
    moving_->move(id, area, store_, changes);
  } else {
    const Area from = store_.area(id);
    moving_->move(id, area, store_, changes);
    move_waiting(store_, id, from, *messages_, backlog_, changes);
  }
  retain(id, changes.gained, 0);
  retain(id, changes.lost, 0);
}

}  // namespace nearcast
