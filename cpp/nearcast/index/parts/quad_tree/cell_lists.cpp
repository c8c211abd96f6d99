#include "nearcast/index/parts/quad_tree/cell_lists.h"

#include "nearcast/index/parts/quad_tree/placement.h"

namespace nearcast {

void CellLists::created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell) {
  if (cells_.size() <= raw(node)) cells_.resize(raw(node) + 1);
  const float chance = parent == kNoQuadNode ? next_chance_ : cells_[raw(parent)].chance;
  cells_[raw(node)] = {{}, chance, static_cast<float>(workload_.share(cell))};
  if (watcher_ != nullptr) watcher_->created(node, parent, cell);
}

void CellLists::freed(QuadNodeId node) {
  cells_[raw(node)] = Cell{};
  if (watcher_ != nullptr) watcher_->freed(node);
}

bool CellLists::stays(QuadNodeId node, const QuadCell& cell, const Item& item) const {
  const Cell& here = cells_[raw(node)];
  const double visits = static_cast<double>(here.share) * static_cast<double>(here.chance);
  return is_better_whole(item.box, cell, workload_.density(), visits, copy_cost_);
}

void CellLists::attach(QuadNodeId node, const Item& item) {
  postings_.insert(cells_[raw(node)].list, QuadPosting::of(item.entry, item.box));
}

void CellLists::detach(QuadNodeId node, const Item& item) {
  ensure(postings_.erase(cells_[raw(node)].list, raw(item.entry)),
         "quadtree: an entry is not in its cell's list");
}

void CellLists::take_all(QuadNodeId node, std::vector<Item>& out) {
  for_each_block(node, [&](std::span<const QuadPosting> postings) {
    for (const QuadPosting& posting : postings)
      out.push_back({posting.entry, store_.bounds(store_.owner(posting.entry))});
  });
  postings_.release(cells_[raw(node)].list);
}

void CellLists::clear() {
  cells_ = {};
  postings_ = {};
  if (watcher_ != nullptr) watcher_->cleared();
}

}  // namespace nearcast
