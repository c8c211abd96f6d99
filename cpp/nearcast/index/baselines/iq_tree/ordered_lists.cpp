#include "nearcast/index/baselines/iq_tree/ordered_lists.h"

#include "nearcast/index/parts/quad_tree/placement.h"

namespace nearcast::iq {

void OrderedLists::created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell) {
  if (shares_.size() <= raw(node)) shares_.resize(raw(node) + 1);
  shares_[raw(node)] = static_cast<float>(workload_.share(cell));
  if (watcher_ != nullptr) watcher_->created(node, parent, cell);
}

void OrderedLists::freed(QuadNodeId node) {
  if (watcher_ != nullptr) watcher_->freed(node);
}

bool OrderedLists::stays(QuadNodeId node, const QuadCell& cell, const Item& item) const {
  const double visits = static_cast<double>(shares_[raw(node)]) * item.choice.chance;
  return is_better_whole(item.box, cell, workload_.density(), visits, copy_cost_);
}

void OrderedLists::attach(QuadNodeId node, const Item& item) {
  const std::uint32_t number = directory_.find_or_create(raw(node), raw(item.choice.key));
  postings_.insert(directory_[number], QuadPosting::of(item.entry, item.box));
}

void OrderedLists::detach(QuadNodeId node, const Item& item) {
  const std::uint32_t number = directory_.find(raw(node), raw(item.choice.key));
  ensure(number != Directory::kNone, "iq-tree: an entry's list is not in its cell");
  ensure(postings_.erase(directory_[number], raw(item.entry)),
         "iq-tree: an entry is not in its list");
  if (directory_[number].size == 0) directory_.free(number);
}

void OrderedLists::take_all(QuadNodeId node, std::vector<Item>& out) {
  for (std::uint32_t number = directory_.first_of(raw(node)); number != Directory::kNone;
       number = directory_.first_of(raw(node))) {
    postings_.for_each_block(directory_[number], [&](std::span<const QuadPosting> postings) {
      for (const QuadPosting& posting : postings) {
        out.push_back(
            {posting.entry, choices_[posting.entry], store_.bounds(store_.owner(posting.entry))});
      }
    });
    postings_.release(directory_[number]);
    directory_.free(number);
  }
}

bool OrderedLists::has(QuadNodeId node, const Item& item) const {
  const std::uint32_t number = directory_.find(raw(node), raw(item.choice.key));
  if (number == Directory::kNone) return false;
  const QuadPosting* found = postings_.find(directory_[number], raw(item.entry));
  return found != nullptr && covers(found->box(), item.box);
}

std::size_t OrderedLists::check(QuadNodeId node) const {
  directory_.check(raw(node));
  std::size_t postings = 0;
  for (std::uint32_t number = directory_.first_of(raw(node)); number != Directory::kNone;
       number = directory_.next_after(number)) {
    ensure(directory_[number].size != 0, "iq-tree: an empty list was not freed");
    postings_.check(directory_[number]);
    postings += directory_[number].size;
  }
  return postings;
}

void OrderedLists::clear() {
  shares_ = {};
  directory_.clear();
  postings_ = {};
  if (watcher_ != nullptr) watcher_->cleared();
}

std::size_t OrderedLists::memory_bytes() const {
  return shares_.memory_bytes() + directory_.memory_bytes() + postings_.memory_bytes();
}

}  // namespace nearcast::iq
