#include "nearcast/index/parts/quad_tree/area_lists.h"

#include <algorithm>

namespace nearcast {

void AreaLists::insert(AreaList& list, const Item& item, double chance) {
  if (list.root != kNoQuadNode) return forest_.insert(list.root, item);
  if (list.plain.size < forest_.limits().max_leaf) {
    return plain_.push_back(list.plain, QuadPosting::of(item.entry, item.box));
  }
  std::vector<Item> items{item};
  for (const QuadPosting& posting : plain_.view(list.plain)) {
    items.push_back({posting.entry, store_.bounds(store_.owner(posting.entry))});
  }
  plain_.release(list.plain);
  make_tree(list, std::move(items), chance);
}

void AreaLists::make_tree(AreaList& list, std::vector<Item> items, double chance) {
  forest_.content().expect(chance);
  list.root = forest_.create_root();
  forest_.build(list.root, std::move(items));
}

void AreaLists::build(AreaList& list, std::vector<Item> items, double chance) {
  if (items.size() > forest_.limits().max_leaf) return make_tree(list, std::move(items), chance);
  for (const Item& item : items) {
    plain_.push_back(list.plain, QuadPosting::of(item.entry, item.box));
  }
}

void AreaLists::erase(AreaList& list, const Item& item) {
  if (list.root != kNoQuadNode) {
    forest_.erase(list.root, item);
    if (forest_.nodes().total(list.root) <= forest_.limits().max_leaf / 2) make_plain(list);
    return;
  }
  const auto postings = plain_.view(list.plain);
  const auto found = std::ranges::find(postings, item.entry, &QuadPosting::entry);
  ensure(found != postings.end(), "quadtree: an entry is not in its list");
  plain_.swap_remove(list.plain, static_cast<std::uint32_t>(found - postings.begin()));
}

void AreaLists::make_plain(AreaList& list) {
  std::vector<Item> items;
  forest_.dissolve(list.root, items);
  list.root = kNoQuadNode;
  for (const Item& item : items) {
    plain_.push_back(list.plain, QuadPosting::of(item.entry, item.box));
  }
}

void AreaLists::clear() {
  plain_ = {};
  forest_.clear();
}

std::size_t AreaLists::memory_bytes() const {
  return plain_.memory_bytes() + forest_.memory_bytes() + forest_.content().memory_bytes();
}

std::size_t AreaLists::check(const AreaList& list) const {
  if (list.root == kNoQuadNode) {
    ensure(list.plain.size <= forest_.limits().max_leaf, "quadtree: a plain list is too long");
    return list.plain.size;
  }
  ensure(list.plain.size == 0, "quadtree: a list is both plain and a tree");
  forest_.nodes().check(list.root);
  forest_.for_each_cell(list.root, [&](QuadNodeId node, const QuadCell&) {
    ensure(forest_.content().size(node) == forest_.nodes()[node].own,
           "quadtree: a cell counts its entries wrongly");
  });
  return forest_.nodes().total(list.root);
}

std::size_t AreaLists::check_item(const AreaList& list, const Item& item) const {
  if (list.root == kNoQuadNode) {
    const auto postings = plain_.view(list.plain);
    const auto found = std::ranges::find(postings, item.entry, &QuadPosting::entry);
    ensure(found != postings.end() && covers(found->box(), item.box),
           "quadtree: an entry is not in its list");
    return 1;
  }
  std::size_t copies = 0;
  forest_.for_each_cell_of(list.root, item, [&](QuadNodeId node) {
    const QuadPosting* found = forest_.content().find(node, item.entry);
    ensure(found != nullptr && covers(found->box(), item.box),
           "quadtree: an entry is not in one of its cells");
    ++copies;
  });
  return copies;
}

}  // namespace nearcast
