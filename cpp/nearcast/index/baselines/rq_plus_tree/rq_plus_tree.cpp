#include "nearcast/index/baselines/rq_plus_tree/rq_plus_tree.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

RqPlusTree::RqPlusTree(const SubscriptionStore& store, const Parameters& parameters)
    : MovingIndex(store), subscriptions_(store, parameters) {
  subscriptions_.watch(*this);
}

void RqPlusTree::attach(const MessageStore& messages) {
  MovingIndex::attach(messages);
  lists_.attach(messages);
}

// ---- messages in lists and cells ----------------------------------------------------------------

template <typename Visit>
void RqPlusTree::for_each_list(const Message& message, Visit&& visit) const {
  WorkCounters unused;
  const auto visit_tree = [&](Token key) {
    visit(list_of(key));
    const QuadNodeId root = subscriptions_.root_of(key);
    if (root == kNoQuadNode) return;
    subscriptions_.forest().search(root, message.place, unused, [&](QuadNodeId node) {
      if (node != root) visit(list_of(node));
    });
  };
  for (const Token token : message.tokens) visit_tree(token);
  visit_tree(kUnknownToken);  // for clauses without keywords
}

void RqPlusTree::created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell) {
  judge_.forget_seen();
  if (keys_.size() <= raw(node)) keys_.resize(raw(node) + 1);
  if (parent == kNoQuadNode) {
    keys_[raw(node)] = 1 + list_of(subscriptions_.placing());
    return;
  }
  keys_[raw(node)] = 0;
  passing_.clear();
  lists_.copy_to(passing_, list_of(parent));
  const QuadNodes& nodes = subscriptions_.forest().nodes();
  for (const MessageId id : passing_) {
    if (reaches_child(nodes, parent, node, cell, messages_->place(id))) {
      lists_.append(list_of(node), id);
    }
  }
}

void RqPlusTree::freed(QuadNodeId node) {
  judge_.forget_seen();
  if (keys_[raw(node)] == 0) lists_.clear(list_of(node));
  keys_[raw(node)] = 0;
}

void RqPlusTree::cleared() {
  judge_.forget_seen();
  for (std::uint32_t node = 0; node < keys_.size(); ++node) {
    if (keys_[node] == 0) lists_.clear(list_of(QuadNodeId{node}));
  }
  keys_ = {};
}

void RqPlusTree::keep(MessageId id, MatchScratch& scratch, MatchSink& sink) {
  const Message message = messages_->message(id);
  subscriptions_.match(message, scratch, sink);
  lists_.start(id);
  for_each_list(message, [&](MessageLists::Number list) { lists_.append(list, id); });
}

void RqPlusTree::drop(MessageId id) {
  lists_.end(id, [](MessageLists::Number) {});
}

// ---- from the side of subscriptions -------------------------------------------------------------

template <typename Visit>
void RqPlusTree::for_each_list(EntryId entry, Visit&& visit) const {
  const Token key = subscriptions_.key_of(entry);
  if (subscriptions_.root_of(key) == kNoQuadNode) return visit(list_of(key));
  subscriptions_.for_each_cell_of(entry, [&](QuadNodeId node) { visit(list_of(node)); });
}

void RqPlusTree::find(SubscriptionId id, std::vector<MessageId>& out) const {
  const std::size_t first = out.size();
  store_.for_each_entry(id, [&](EntryId entry) {
    for_each_list(entry,
                  [&](MessageLists::Number list) { find_in(store_, entry, lists_, list, out); });
  });
  keep_each_once(out, first);
}

void RqPlusTree::judge(SubscriptionId id) {
  store_.for_each_entry(id, [&](EntryId entry) {
    const Clause clause = store_.clause(entry);
    for_each_list(entry,
                  [&](MessageLists::Number list) { judge_.see_once(lists_, list, entry, clause); });
  });
}

void RqPlusTree::move(SubscriptionId id, const Area& to, SubscriptionStore& store,
                      MoveChanges& changes) {
  judge_.start(store_, id, to, changes);
  judge(id);
  subscriptions_.erase(id);
  store.replace_area(id, to);
  subscriptions_.insert(id);
  judge(id);
  judge_.finish();
}

std::size_t RqPlusTree::message_bytes() const {
  return keys_.memory_bytes() + lists_.memory_bytes();
}

void RqPlusTree::check_invariants() const {
  subscriptions_.check_invariants();
  if (messages_ == nullptr) return;
  lists_.check();
  lists_.for_each([&](MessageId id) {
    for_each_list(messages_->message(id), [&](MessageLists::Number list) {
      std::vector<MessageId> passing;
      lists_.copy_to(passing, list);
      ensure(std::ranges::count(passing, id) == 1,
             "rq+-tree: a message is not in one of its lists");
    });
  });
}

}  // namespace nearcast
