/// What the PT-Quadtree attaches to the cells of a quadtree: lists by pivot, and marks that say
/// which pivots lead where. [LFilter §4.1]
///
///   paper                here                  meaning
///   pivotal token        Item::key             the token that stands for an entry in a cell
///   n.CSet               Mark with kCover      tokens of all four children, which do not keep them
///   n.NSet               other Marks           tokens of some children, which keep them too
///   MX-CIF               max_copies = 1        each entry in the smallest cell that holds its box
///   push-down, budget    max_copies            copies an entry may have
///   |leaves(n)|          leaves()              undivided cells below a cell
///
/// An entry belongs to one level: the deepest on which its box touches no more than max_copies
/// cells. It stands in the cells of that level that its box touches, or in undivided ones above
/// them. So a budget for space holds for each entry, not only on average, and all copies of an
/// entry are found from its box.
///
/// Departs from the paper:
/// - An entry's pivot is kept with it, and a cell's list is sorted by pivot; a message reads only
///   the entries whose pivots it has.
/// - In a divided cell, whose list may be long, each entry is filed under its rarest token. The
///   greedy hitting set is for undivided cells: few pivots make long lists behind them, and the
///   paper's lists are in leaves only.
/// - A mark says which of the four children have its token, and whether the cell itself has. That
///   says more than a cover set and takes hardly more memory, so covers are an option: without
///   them a token goes down only where it occurs; with them to all children, once all four have it.
/// - A cover that an erased entry no longer justifies stays (it costs visits, never matches) and is
///   counted as stale; the owner makes all marks anew when there are too many.
///
/// Items carry a *label* for their entry and ascend by it within a pivot: see Labels.
#pragma once

#include <array>
#include <vector>

#include "nearcast/base/block_lists.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/geo/float_box.h"
#include "nearcast/index/papers/pt_quadtree/pivots.h"
#include "nearcast/index/parts/quad_tree/quad_forest.h"

namespace nearcast {

constexpr std::uint32_t kDeepestLevel = 24;  ///< cells of a quadtree are never smaller

using Label = std::uint32_t;

/// The labels of entries: their ids, unless an index has an order of its own.
class Labels {
 public:
  virtual ~Labels() = default;
  virtual Label label(EntryId entry) const { return raw(entry); }
  virtual EntryId entry(Label label) const { return EntryId{label}; }
};

struct Relabel {
  Label from, to;
};

/// An entry of a list. Its box is a filter, never a decision.
struct PivotItem {
  PivotKey key;
  Label label;
  FloatBox box;

  struct KeyOf {  ///< lists ascend by pivot, then by label
    std::uint64_t operator()(const PivotItem& item) const {
      return std::uint64_t{item.key} << 32 | item.label;
    }
  };
};

class PivotCells : public QuadContent {
 public:
  struct Item {  ///< what a quadtree places
    EntryId entry;
    std::uint32_t level;  ///< the deepest it may go to
    Rect box;
  };
  using Keys = std::vector<PivotKey>;
  using Mark = std::uint32_t;       ///< key << 6, kOwn, kCover, one bit per child
  static constexpr Mark kOwn = 32;  ///< the divided cell itself has entries with this pivot
  static constexpr Mark kCover = 16, kAllChildren = 15;

  struct Options {
    PivotRule rule;
    std::uint64_t max_copies;
    bool has_covers;
  };

  PivotCells(const SubscriptionStore& store, const Labels& labels, const Options& options)
      : store_(store), labels_(labels), options_(options) {}

  /// The nodes of the quadtree that this is the content of; before anything else.
  void belong_to(const QuadNodes& nodes) { nodes_ = &nodes; }

  Item item_of(EntryId entry) const;
  EntryId entry_of(Label label) const { return labels_.entry(label); }
  /// Calls visit(item) for each of the cell, by key, then by label.
  template <typename Visit>
  void for_each_item(QuadNodeId node, Visit&& visit) const {
    items_.for_each_block(slot(node).items, [&](std::span<const PivotItem> block) {
      for (const PivotItem& each : block) visit(each);
    });
  }
  /// Calls visit(items) for each stretch of those with this key, ascending by label.
  template <typename Visit>
  void for_each_with(QuadNodeId node, PivotKey key, Visit&& visit) const;
  bool has_item(QuadNodeId node, EntryId entry) const;
  const Mark* find_mark(QuadNodeId node, PivotKey key) const;  ///< or nullptr
  /// The same for keys that ascend from call to call; `from` starts with 0.
  const Mark* find_mark(QuadNodeId node, PivotKey key, std::size_t& from) const;
  std::uint32_t leaves(QuadNodeId node) const { return slot(node).leaves; }
  std::size_t inner_cells() const { return inner_cells_; }
  std::size_t mark_count() const { return mark_count_; }
  std::size_t stale() const { return stale_; }

  void count(EntryId entry, int step) { counts_.add(store_.clause(entry).positive, step); }
  /// Between begin_bulk() and end_bulk() lists are collected; then pivots and marks are made.
  void begin_bulk() { is_bulk_ = true; }
  void end_bulk(QuadNodeId root);
  void make_marks(QuadNodeId root);                                   ///< anew: what is stale goes
  void relabel(QuadNodeId node, EntryId entry, const Relabel& move);  ///< no other label between
  void relabel_all(std::span<const Relabel> ascending);

  // What the quadtree calls (quad_forest.h).
  void created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell);
  void freed(QuadNodeId node);
  void attach(QuadNodeId node, const Item& item);
  void detach(QuadNodeId node, const Item& item);
  void take_all(QuadNodeId node, std::vector<Item>& out);
  bool stays(QuadNodeId node, const QuadCell&, const Item& item) const {
    return item.level <= slot(node).depth;
  }
  void divided(QuadNodeId node);
  void merged(QuadNodeId node);
  void clear();

  std::size_t memory_bytes() const;
  /// The pivots at the cell and below it; `covered` are those that a cell above it covers.
  Keys check(QuadNodeId node, Keys covered) const;

 private:
  struct Slot {
    QuadNodeId parent;
    std::uint16_t depth;
    std::uint8_t bit;  ///< of this child in its parent's marks
    bool is_divided;
    std::uint32_t leaves;
    BlockList items;
    ListHandle marks;  ///< by key; of an undivided cell: none
  };
  const Slot& slot(QuadNodeId node) const { return slots_[raw(node)]; }
  Slot& slot(QuadNodeId node) { return slots_[raw(node)]; }
  TokenSpan tokens_of(Label label) const { return store_.clause(labels_.entry(label)).positive; }
  Keys keys_of(QuadNodeId node) const;
  PivotRule rule_in(QuadNodeId node) const {
    return (*nodes_)[node].is_divided ? PivotRule::kRare : options_.rule;
  }
  PivotKey pivot_in(QuadNodeId node, TokenSpan tokens) const;
  const PivotItem* find_item(QuadNodeId node, EntryId entry, Label label) const;
  bool has_with(QuadNodeId node, PivotKey key) const;
  std::size_t count_with(QuadNodeId node, PivotKey key) const;  ///< up to kEnough
  void add_leaves(QuadNodeId node, std::uint32_t more);

  void choose_anew(QuadNodeId node);
  void set_pivots(QuadNodeId node);
  void cover(QuadNodeId node);

  Mark* find_mark(QuadNodeId node, PivotKey key);
  void add_bits(QuadNodeId node, PivotKey key, Mark bits);
  bool remove_bits(QuadNodeId node, PivotKey key, Mark bits);
  void gain(QuadNodeId node, PivotKey key);
  void lose(QuadNodeId node, PivotKey key);
  void drop_mark(QuadNodeId node, PivotKey key);
  void drop_marks(QuadNodeId node);
  bool has_key(QuadNodeId node, PivotKey key) const {
    return has_with(node, key) || find_mark(node, key) != nullptr;
  }
  void tell_gained(QuadNodeId node, PivotKey key);
  void tell_lost(QuadNodeId node, PivotKey key);
  Keys make_marks_below(QuadNodeId node);
  void set_covers(QuadNodeId node);
  void drop_covered(QuadNodeId node, QuadNodeId child);
  void check_item(QuadNodeId node, const PivotItem& item) const;
  void check_marks(QuadNodeId node, const Keys& covered) const;

  /// Of pivots with so many entries none is preferred to another.
  static constexpr std::size_t kEnough = 256;

  const SubscriptionStore& store_;
  const Labels& labels_;
  const QuadNodes* nodes_ = nullptr;
  Options options_;
  bool is_bulk_ = false;
  std::size_t inner_cells_ = 0, mark_count_ = 0;
  std::size_t stale_ = 0;  ///< covers that may have lost their reason
  Array<Slot> slots_;      ///< by node
  BlockLists<PivotItem, PivotItem::KeyOf> items_;
  ListArena<Mark> marks_;
  TokenUses counts_;
};

template <typename Visit>
void PivotCells::for_each_with(QuadNodeId node, PivotKey key, Visit&& visit) const {
  items_.for_each_block_from(slot(node).items, std::uint64_t{key} << 32,
                             [&](std::span<const PivotItem> rest) {
                               const bool goes_on = rest.back().key == key;
                               std::size_t count = rest.size();
                               if (!goes_on) {
                                 for (count = 0; rest[count].key == key;) ++count;
                               }
                               if (count != 0) visit(rest.first(count));
                               return goes_on;
                             });
}

}  // namespace nearcast
