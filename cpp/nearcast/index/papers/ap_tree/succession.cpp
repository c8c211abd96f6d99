#include "nearcast/index/papers/ap_tree/succession.h"

#include <algorithm>

namespace nearcast {

std::vector<ParameterSpec> ApSuccession::parameters() {
  std::vector<ParameterSpec> specs = ApTree::parameters();
  specs.push_back(whole("max_rebuild", 4096, 1, 1e9,
                        "a node with more subscriptions is not made again within one change"));
  return specs;
}

ApSuccession::ApSuccession(const SubscriptionStore& store, const Parameters& parameters)
    : MatchIndex(store), parameters_(parameters), current_(make_tree()) {}

std::unique_ptr<ApTree> ApSuccession::make_tree() const {
  return std::make_unique<ApTree>(store_, parameters_, parameters_.count("max_rebuild"));
}

void ApSuccession::insert(SubscriptionId id) {
  (next_ ? *next_ : *current_).insert(id);
  note(id, next_ != nullptr);
  go_on();
}

void ApSuccession::erase(SubscriptionId id) {
  (has_moved(id) ? *next_ : *current_).erase(id);
  note(id, false);
  go_on();
}

void ApSuccession::note(SubscriptionId id, bool has_moved) {
  if (next_ == nullptr) return;
  if (moved_.size() <= raw(id)) moved_.resize(raw(id) + 1);
  moved_[raw(id)] = has_moved ? 1 : 0;
}

void ApSuccession::go_on() {
  ++changes_;
  if (next_ != nullptr) {
    bring_over(kStep);
  } else if (current_->wants_successor() && 4 * changes_ >= current_->entries()) {
    next_ = make_tree();
    next_->succeed(*current_);
  }
}

void ApSuccession::bring_over(std::size_t count) {
  for (; count > 0 && current_->entries() != 0; --count) {
    const SubscriptionId id = current_->any(random_);
    current_->erase(id);
    next_->insert(id);
    note(id, true);
  }
  if (current_->entries() != 0) return;
  current_ = std::move(next_);
  moved_.clear();
  changes_ = 0;
}

/// A build of many is a long operation anyway, so it also completes a succession that is under way.
void ApSuccession::build(std::span<const SubscriptionId> ids) {
  if (ids.size() * 2 < store_.size()) {
    for (const SubscriptionId id : ids) insert(id);
    return;
  }
  if (next_ != nullptr) bring_over(store_.size());
  current_->build(ids);
  changes_ = 0;
}

void ApSuccession::learn(const MessageSample& messages) {
  current_->learn(messages);
  if (next_ != nullptr) next_->learn(messages);
}

void ApSuccession::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  current_->match(message, scratch, sink);
  if (next_ != nullptr) next_->match(message, scratch, sink);
}

std::size_t ApSuccession::memory_bytes() const {
  return current_->memory_bytes() + moved_.memory_bytes() +
         (next_ != nullptr ? next_->memory_bytes() : 0);
}

void ApSuccession::check_invariants() const {
  current_->check([&](SubscriptionId id) { return !has_moved(id); });
  if (next_ != nullptr) next_->check([&](SubscriptionId id) { return has_moved(id); });
}

}  // namespace nearcast
