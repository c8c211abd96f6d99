#include "nearcast/index/papers/ap_plus_tree/ap_plus_tree.h"

namespace nearcast {

std::vector<ParameterSpec> ApPlusTree::parameters() {
  std::vector<ParameterSpec> specs = ap::MovingTree::parameters();
  specs.push_back(choice("messages", {"own", "keyword", "space"},
                         "where messages are kept: in the tree, or beside it by word or by cell"));
  specs.push_back(whole("cells", 40, 1, 4096, "cells of the grid beside the tree per dimension"));
  return specs;
}

ApPlusTree::ApPlusTree(const SubscriptionStore& store, const Parameters& parameters)
    : MovingIndex(store), tree_(store, parameters) {
  const std::string& messages = parameters.word("messages");
  if (messages == "own") return;
  beside_.emplace(messages == "keyword" ? GridOrder::kKeywordFirst : GridOrder::kCellFirst,
                  static_cast<std::uint32_t>(parameters.count("cells")));
}

void ApPlusTree::build(std::span<const SubscriptionId> ids) {
  tree_.build(ids);
  // The grid is fitted to the subscriptions when many are inserted at once, as the tree is.
  if (beside_ && ids.size() * 2 >= store_.size()) beside_->set_frame(frame_of(store_));
}

void ApPlusTree::attach(const MessageStore& messages) {
  MovingIndex::attach(messages);
  if (beside_) {
    beside_->attach(messages);
    beside_->set_frame(frame_of(store_));
  }
  tree_.attach(messages);
}

void ApPlusTree::keep(MessageId id, MatchScratch& scratch, MatchSink& sink) {
  if (!beside_) return tree_.keep(id, scratch, sink);
  tree_.match(messages_->message(id), scratch, sink);
  beside_->keep(id);
}

void ApPlusTree::drop(MessageId id) {
  if (beside_) return beside_->drop(id);
  tree_.drop(id);
}

void ApPlusTree::find(SubscriptionId id, std::vector<MessageId>& out) const {
  if (!beside_) return tree_.find(id, out);
  const std::size_t first = out.size();
  store_.for_each_entry(
      id, [&](EntryId entry) { beside_->find(store_, entry, tree_.rarest(entry), out); });
  keep_each_once(out, first);
}

void ApPlusTree::move(SubscriptionId id, const Area& to, SubscriptionStore& store,
                      MoveChanges& changes) {
  judge_.start(store_, id, to, changes);
  if (beside_) {
    store_.for_each_entry(id, [&](EntryId entry) {
      beside_->show(judge_, store_, entry, tree_.rarest(entry), store_.bounds(id), bounds_of(to));
    });
  }
  tree_.move(id, to, store, judge_);
  judge_.finish();
}

void ApPlusTree::check_invariants() const {
  tree_.check_invariants();
  tree_.check_homes();
  if (messages_ == nullptr) return;
  tree_.check_messages();
  if (beside_) beside_->check();
}

}  // namespace nearcast
