#include "nearcast/index/iq_tree/ranked_lists.h"

#include <algorithm>

#include "nearcast/index/quad_tree/placement.h"

namespace nearcast::iq {

void RankedLists::created(QuadNodeId node, QuadNodeId, const QuadCell& cell) {
  if (cells_.size() <= raw(node)) cells_.resize(raw(node) + 1);
  cells_[raw(node)] = {0, 0, static_cast<float>(workload_.share(cell))};
}

bool RankedLists::stays(QuadNodeId node, const QuadCell& cell, const Item& item) const {
  const double visits = static_cast<double>(cells_[raw(node)].share) * item.choice.chance;
  return is_better_whole(item.box, cell, workload_.density(), visits, copy_cost_);
}

std::uint32_t RankedLists::create(QuadNodeId node, Token key) {
  std::uint32_t number;
  if (free_lists_.empty()) {
    number = static_cast<std::uint32_t>(lists_.size());
    lists_.resize(lists_.size() + 1);
  } else {
    number = free_lists_.back();
    free_lists_.pop_back();
  }
  Cell& cell = cells_[raw(node)];
  lists_[number] = {node, key, 0, cell.first, {}};
  if (cell.first != 0) lists_[cell.first - 1].previous = number + 1;
  cell.first = number + 1;
  cell.filter |= filter_bit(key);
  by_key_.insert(hash_of_key(node, key), number,
                 [&](std::uint32_t other) { return hash_of_list(other); });
  return number;
}

void RankedLists::free(std::uint32_t number) {
  const KeyList list = lists_[number];
  Cell& cell = cells_[raw(list.node)];
  by_key_.erase(hash_of_list(number), number,
                [&](std::uint32_t other) { return hash_of_list(other); });
  if (list.next != 0) lists_[list.next - 1].previous = list.previous;
  (list.previous != 0 ? lists_[list.previous - 1].next : cell.first) = list.next;
  if (cell.first == 0) cell.filter = 0;
  lists_[number] = KeyList{};
  free_lists_.push_back(number);
}

void RankedLists::attach(QuadNodeId node, const Item& item) {
  std::uint32_t number = find(node, item.choice.key);
  if (number == TaggedTable::kNone) number = create(node, item.choice.key);
  postings_.push_back(lists_[number].postings, QuadPosting::of(item.entry, item.box));
}

void RankedLists::detach(QuadNodeId node, const Item& item) {
  const std::uint32_t number = find(node, item.choice.key);
  ensure(number != TaggedTable::kNone, "iq-tree: an entry's list is not in its cell");
  ListHandle& list = lists_[number].postings;
  const auto postings = postings_.view(list);
  const auto found = std::ranges::find(postings, item.entry, &QuadPosting::entry);
  ensure(found != postings.end(), "iq-tree: an entry is not in its list");
  postings_.swap_remove(list, static_cast<std::uint32_t>(found - postings.begin()));
  if (list.size == 0) free(number);
}

void RankedLists::take_all(QuadNodeId node, std::vector<Item>& out) {
  while (cells_[raw(node)].first != 0) {
    const std::uint32_t number = cells_[raw(node)].first - 1;
    for (const QuadPosting& posting : postings_.view(lists_[number].postings)) {
      out.push_back(
          {posting.entry, choices_[posting.entry], store_.bounds(store_.owner(posting.entry))});
    }
    postings_.release(lists_[number].postings);
    free(number);
  }
}

bool RankedLists::has(QuadNodeId node, const Item& item) const {
  for (const QuadPosting& posting : list(node, item.choice.key)) {
    if (posting.entry == item.entry) return covers(posting.box(), item.box);
  }
  return false;
}

std::size_t RankedLists::check(QuadNodeId node) const {
  std::size_t postings = 0;
  std::uint32_t previous = 0;
  for (std::uint32_t link = cells_[raw(node)].first; link != 0; link = lists_[link - 1].next) {
    const KeyList& list = lists_[link - 1];
    ensure(list.node == node && list.previous == previous, "iq-tree: a cell's chain is broken");
    ensure(find(node, list.key) == link - 1, "iq-tree: a list is not found by its key");
    ensure((filter(node) & filter_bit(list.key)) != 0, "iq-tree: a filter hides a keyword");
    ensure(list.postings.size != 0, "iq-tree: an empty list was not freed");
    postings += list.postings.size;
    previous = link;
  }
  return postings;
}

void RankedLists::clear() {
  cells_ = {};
  lists_ = {};
  free_lists_ = {};
  by_key_ = {};
  postings_ = {};
}

std::size_t RankedLists::memory_bytes() const {
  return cells_.memory_bytes() + lists_.memory_bytes() + free_lists_.memory_bytes() +
         by_key_.memory_bytes() + postings_.memory_bytes();
}

void RankedLists::save(ArchiveWriter& out) const {
  cells_.save(out);
  lists_.save(out);
  free_lists_.save(out);
  by_key_.save(out);
  postings_.save(out);
}

void RankedLists::load(ArchiveReader& in) {
  cells_.load(in);
  lists_.load(in);
  free_lists_.load(in);
  by_key_.load(in);
  postings_.load(in);
}

}  // namespace nearcast::iq
