/// What a cell of the quadtree holds: its subscriptions, and an inverted file over them.
/// [Skype §5.3]
///
/// The files of all cells lie together, token by token (group_columns.h). A group of one entry is
/// there in full; the entries of a larger one are in a list beside it (group_entries.h).
///
/// A cell also knows the least nearness that any of its subscriptions needs, whatever the text
/// (λ_S). [Skype §5.2.3 Lemma 6] When a subscription needs less, this changes at once; when it
/// needs more, before the next newcomer. A subscription that has no threshold yet does not count:
/// its groups are never skipped, so the cell may be.
#pragma once

#include <limits>
#include <vector>

#include "nearcast/base/prefetch.h"
#include "nearcast/index/parts/quad_tree/quad_forest.h"
#include "nearcast/topk/arrival/igpt/alpha_groups.h"
#include "nearcast/topk/arrival/igpt/bounds_scan.h"
#include "nearcast/topk/arrival/igpt/group_columns.h"
#include "nearcast/topk/arrival/igpt/group_entries.h"
#include "nearcast/topk/arrival/key_numbers.h"

namespace nearcast::igpt {

class CellFiles : public QuadContent {
 public:
  struct Item {
    SubscriptionId entry;
    Rect box;  ///< a point
  };

  CellFiles(const TopState& state, SubscriptionTable& table, std::uint32_t groups)
      : state_(state), table_(table), alphas_(groups), entries_(table) {}

  // The hooks that QuadForest calls.
  void created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell);
  void attach(QuadNodeId node, const Item& item);
  void detach(QuadNodeId node, const Item& item);
  void take_all(QuadNodeId node, std::vector<Item>& out);
  bool stays(QuadNodeId, const QuadCell&, const Item&) const { return false; }  ///< points go down
  void clear();

  void count(SubscriptionId id) { alphas_.add(alpha_of(id)); }
  void discount(SubscriptionId id) { alphas_.remove(alpha_of(id)); }
  /// Draw the borders of groups anew if there are many more subscriptions than before.
  void regroup_if_outgrown();
  void set_needs(SubscriptionId id);

  /// Called before a newcomer reads the bounds of cells: computes those that may have risen.
  void refresh_cells();
  std::span<const CellBlock> cells() const { return boxes_.view(); }

  const GroupColumns& groups() const { return columns_; }
  /// The entries of a group of two or more.
  std::span<const Entry> entries(std::uint32_t group) const {
    return entries_.view(groups_[group].entries);
  }
  void prefetch_group(std::uint32_t group) const { prefetch_line(&groups_[group]); }
  void prefetch_entries(std::uint32_t group) const { entries_.prefetch(groups_[group].entries); }

  std::size_t memory_bytes() const;
  void check_invariants() const;

 private:
  struct Member {
    SubscriptionId id;
    float nearness;  ///< λ_S
  };
  struct Cell {
    Rect bounds;
    ListHandle members;
    bool may_have_risen;
  };
  struct Group {
    ListHandle entries;  ///< of two or more
    std::uint32_t size;
    std::uint32_t place;  ///< in the columns of its token
  };

  static std::uint64_t key_of(Token token, QuadNodeId cell, std::uint32_t group) {
    return std::uint64_t{raw(token)} << 32 | raw(cell) << 4 | group;
  }
  static Token token_of(std::uint64_t key) { return Token{static_cast<std::uint32_t>(key >> 32)}; }
  static std::uint32_t cell_of(std::uint64_t key) { return static_cast<std::uint32_t>(key) >> 4; }

  double alpha_of(SubscriptionId id) const { return state_.subscriptions[id].alpha; }
  float& nearness_of(QuadNodeId node) {
    return boxes_[raw(node) / CellBlock::kSize].nearness[raw(node) % CellBlock::kSize];
  }
  Slot slot_of(std::uint32_t group, const Entry& first) const;
  void show(std::uint32_t group);
  void add_term(std::uint32_t group, std::uint32_t term);
  void remove_term(std::uint32_t term);
  void remove_group(std::uint32_t group);
  void file(SubscriptionId id);
  void unfile(SubscriptionId id);
  void clear_groups();

  const TopState& state_;
  SubscriptionTable& table_;
  AlphaGroups alphas_;
  Array<Cell> cells_;  ///< by node
  Array<CellBlock> boxes_;
  std::vector<QuadNodeId> risen_;  ///< cells whose bounds may have risen
  ListArena<Member> members_;
  KeyNumbers numbers_;  ///< of groups, by token, cell and α
  Array<Group> groups_;
  GroupColumns columns_;
  GroupEntries entries_;
};

}  // namespace nearcast::igpt
