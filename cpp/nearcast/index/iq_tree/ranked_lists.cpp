#include "nearcast/index/iq_tree/ranked_lists.h"

#include <algorithm>

#include "nearcast/index/quad_tree/placement.h"

namespace nearcast::iq {

void RankedLists::created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell) {
  if (shares_.size() <= raw(node)) shares_.resize(raw(node) + 1);
  shares_[raw(node)] = static_cast<float>(workload_.share(cell));
  if (watcher_ != nullptr) watcher_->created(node, parent, cell);
}

void RankedLists::freed(QuadNodeId node) {
  if (watcher_ != nullptr) watcher_->freed(node);
}

bool RankedLists::stays(QuadNodeId node, const QuadCell& cell, const Item& item) const {
  const double visits = static_cast<double>(shares_[raw(node)]) * item.choice.chance;
  return is_better_whole(item.box, cell, workload_.density(), visits, copy_cost_);
}

void RankedLists::attach(QuadNodeId node, const Item& item) {
  const std::uint32_t number = directory_.find_or_create(raw(node), raw(item.choice.key));
  postings_.push_back(directory_[number], QuadPosting::of(item.entry, item.box));
}

void RankedLists::detach(QuadNodeId node, const Item& item) {
  const std::uint32_t number = directory_.find(raw(node), raw(item.choice.key));
  ensure(number != Directory::kNone, "iq-tree: an entry's list is not in its cell");
  ListHandle& list = directory_[number];
  const auto postings = postings_.view(list);
  const auto found = std::ranges::find(postings, item.entry, &QuadPosting::entry);
  ensure(found != postings.end(), "iq-tree: an entry is not in its list");
  postings_.swap_remove(list, static_cast<std::uint32_t>(found - postings.begin()));
  if (list.size == 0) directory_.free(number);
}

void RankedLists::take_all(QuadNodeId node, std::vector<Item>& out) {
  for (std::uint32_t number = directory_.first_of(raw(node)); number != Directory::kNone;
       number = directory_.first_of(raw(node))) {
    for (const QuadPosting& posting : postings_.view(directory_[number])) {
      out.push_back(
          {posting.entry, choices_[posting.entry], store_.bounds(store_.owner(posting.entry))});
    }
    postings_.release(directory_[number]);
    directory_.free(number);
  }
}

bool RankedLists::has(QuadNodeId node, const Item& item) const {
  for (const QuadPosting& posting : list(node, item.choice.key)) {
    if (posting.entry == item.entry) return covers(posting.box(), item.box);
  }
  return false;
}

std::size_t RankedLists::check(QuadNodeId node) const {
  directory_.check(raw(node));
  std::size_t postings = 0;
  for (std::uint32_t number = directory_.first_of(raw(node)); number != Directory::kNone;
       number = directory_.next_after(number)) {
    ensure(directory_[number].size != 0, "iq-tree: an empty list was not freed");
    postings += directory_[number].size;
  }
  return postings;
}

void RankedLists::clear() {
  shares_ = {};
  directory_.clear();
  postings_ = {};
  if (watcher_ != nullptr) watcher_->cleared();
}

std::size_t RankedLists::memory_bytes() const {
  return shares_.memory_bytes() + directory_.memory_bytes() + postings_.memory_bytes();
}

void RankedLists::save(ArchiveWriter& out) const {
  shares_.save(out);
  directory_.save(out);
  postings_.save(out);
}

void RankedLists::load(ArchiveReader& in) {
  shares_.load(in);
  directory_.load(in);
  postings_.load(in);
}

}  // namespace nearcast::iq
