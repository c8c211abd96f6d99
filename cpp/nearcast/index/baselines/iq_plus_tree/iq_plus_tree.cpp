#include "nearcast/index/baselines/iq_plus_tree/iq_plus_tree.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

IqPlusTree::IqPlusTree(const SubscriptionStore& store, const Parameters& parameters)
    : MovingIndex(store), subscriptions_(store, parameters) {
  subscriptions_.watch(*this);
}

void IqPlusTree::attach(const MessageStore& messages) {
  MovingIndex::attach(messages);
  lists_.attach(messages);
}

// ---- messages in cells --------------------------------------------------------------------------

void IqPlusTree::file_under(QuadNodeId node, Token key, MessageId id) {
  lists_.append(directory_.find_or_create(raw(node), raw(key)), id);
}

void IqPlusTree::file(QuadNodeId node, MessageId id) {
  for (const Token token : messages_->tokens(id)) file_under(node, token, id);
  file_under(node, kUnknownToken, id);  // for clauses without keywords
}

void IqPlusTree::created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell) {
  judge_.forget_seen();
  if (parent == kNoQuadNode) {
    lists_.for_each([&](MessageId id) { file(node, id); });
    return;
  }
  const std::uint32_t all = directory_.find(raw(parent), raw(kUnknownToken));
  if (all == Directory::kNone) return;
  passing_.clear();
  lists_.copy_to(passing_, all);
  const QuadNodes& nodes = subscriptions_.forest().nodes();
  for (const MessageId id : passing_) {
    if (reaches_child(nodes, parent, node, cell, messages_->place(id))) file(node, id);
  }
}

void IqPlusTree::freed(QuadNodeId node) {
  for (std::uint32_t number = directory_.first_of(raw(node)); number != Directory::kNone;
       number = directory_.first_of(raw(node))) {
    lists_.clear(number);
    directory_.free(number);
  }
}

void IqPlusTree::cleared() {
  directory_.clear();
  lists_.clear();
}

void IqPlusTree::keep(MessageId id, MatchScratch& scratch, MatchSink& sink) {
  const Message message = messages_->message(id);
  subscriptions_.match(message, scratch, sink);
  lists_.start(id);
  if (subscriptions_.root() == kNoQuadNode) return;
  WorkCounters unused;
  subscriptions_.forest().search(subscriptions_.root(), message.place, unused,
                                 [&](QuadNodeId node) { file(node, id); });
}

void IqPlusTree::drop(MessageId id) {
  lists_.end(id, [&](std::uint32_t list) { directory_.free(list); });
}

// ---- from the side of subscriptions -------------------------------------------------------------

template <typename Visit>
void IqPlusTree::for_each_list(EntryId entry, Visit&& visit) const {
  const Token key = subscriptions_.key_of(entry);
  subscriptions_.for_each_cell_of(entry, [&](QuadNodeId node) {
    const std::uint32_t list = directory_.find(raw(node), raw(key));
    if (list != Directory::kNone) visit(list);
  });
}

void IqPlusTree::find(SubscriptionId id, std::vector<MessageId>& out) const {
  const std::size_t first = out.size();
  store_.for_each_entry(id, [&](EntryId entry) {
    for_each_list(entry, [&](std::uint32_t list) { find_in(store_, entry, lists_, list, out); });
  });
  keep_each_once(out, first);
}

void IqPlusTree::judge(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    const Clause clause = store_.clause(entry);
    for_each_list(entry, [&](std::uint32_t list) { judge_.see_once(lists_, list, entry, clause); });
  });
}

void IqPlusTree::move(SubscriptionId id, const Area& to, SubscriptionStore& store,
                      MoveChanges& changes) {
  judge_.start(store_, id, to, changes);
  judge(id);
  subscriptions_.erase(id);
  store.replace_area(id, to);
  subscriptions_.insert(id);
  judge(id);
  judge_.finish();
}

std::size_t IqPlusTree::message_bytes() const {
  return directory_.memory_bytes() + lists_.memory_bytes();
}

void IqPlusTree::check_invariants() const {
  subscriptions_.check_invariants();
  if (messages_ == nullptr) return;
  lists_.check();
  for (std::uint32_t row = 0; row < directory_.rows(); ++row) directory_.check(row);
  if (subscriptions_.root() == kNoQuadNode) return;
  WorkCounters unused;
  lists_.for_each([&](MessageId id) {
    const Message message = messages_->message(id);
    subscriptions_.forest().search(
        subscriptions_.root(), message.place, unused, [&](QuadNodeId node) {
          std::vector<MessageId> passing;
          lists_.copy_to(passing, directory_.find(raw(node), raw(kUnknownToken)));
          ensure(std::ranges::count(passing, id) == 1,
                 "iq+-tree: a message is not in one of its cells");
        });
  });
}

}  // namespace nearcast
