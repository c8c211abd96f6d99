/// What a cell of the quadtree holds: its subscriptions, and an inverted file over them.
/// [Skype §5.3]
///
/// The files of all cells lie in one table by cell and token. A cell also knows the least nearness
/// that any of its subscriptions asks for, whatever the text (λ_S). [Skype §5.2.3 Lemma 6] A need
/// that falls is taken in at once, one that rises when the cell is looked at again.
#pragma once

#include <limits>
#include <vector>

#include "nearcast/base/prefetch.h"
#include "nearcast/index/quad_tree/quad_forest.h"
#include "nearcast/topk/arrival/igpt/alpha_groups.h"
#include "nearcast/topk/arrival/igpt/grouped_list.h"
#include "nearcast/topk/arrival/key_numbers.h"

namespace nearcast::igpt {

class CellFiles : public QuadContent {
 public:
  static constexpr std::uint32_t kNone = KeyNumbers::kNone;

  struct Item {
    SubscriptionId entry;
    Rect box;  ///< a point
  };
  struct Member {
    SubscriptionId id;
    float nearness;  ///< λ_S
  };
  struct Cell {
    Rect bounds;
    ListHandle members;
    float nearness;  ///< at most the least λ_S of the members
    bool may_have_risen;
  };

  CellFiles(const TopState& state, SubscriptionTable& table, std::uint32_t groups)
      : state_(state), table_(table), groups_(groups), entries_(table) {}

  // What QuadForest asks of its content.
  void created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell);
  void attach(QuadNodeId node, const Item& item);
  void detach(QuadNodeId node, const Item& item);
  void take_all(QuadNodeId node, std::vector<Item>& out);
  bool stays(QuadNodeId, const QuadCell&, const Item&) const { return false; }  ///< points go down
  void clear();

  void count(SubscriptionId id) { groups_.add(alpha_of(id)); }
  void discount(SubscriptionId id) { groups_.remove(alpha_of(id)); }
  /// Draw the borders of groups anew if there are many more subscriptions than before.
  void regroup_if_outgrown();
  void set_needs(SubscriptionId id, const Needs& needs);

  std::size_t slots() const { return cells_.size(); }  ///< cells are below this
  const Cell& operator[](std::size_t node) const { return cells_[node]; }
  float least_nearness(std::size_t node);

  /// The number of a list, or kNone.
  std::uint32_t find(std::uint32_t node, Token token) const {
    return numbers_.find(key_of(node, token));
  }
  void prefetch(std::uint32_t node, Token token) const { numbers_.prefetch(key_of(node, token)); }
  void prefetch_list(std::uint32_t number) const { prefetch_line(&lists_[number]); }
  void prefetch_entries(std::uint32_t number) const { entries_.prefetch(lists_[number]); }
  std::span<const Entry> entries(std::uint32_t number) const {
    return entries_.view(lists_[number]);
  }

  std::size_t memory_bytes() const;
  void check_invariants() const;

 private:
  static std::uint64_t key_of(std::uint32_t node, Token token) {
    return static_cast<std::uint64_t>(node) << 32 | raw(token);
  }
  double alpha_of(SubscriptionId id) const { return state_.subscriptions[id].alpha; }
  Entry entry_of(SubscriptionId id, std::uint32_t term) const;
  void drop_list(std::uint32_t number);
  void file(SubscriptionId id);
  void unfile(SubscriptionId id);
  void clear_lists();

  const TopState& state_;
  SubscriptionTable& table_;
  AlphaGroups groups_;
  Array<Cell> cells_;  ///< by node
  ListArena<Member> members_;
  KeyNumbers numbers_;  ///< of lists, by cell and token
  Array<ListHandle> lists_;
  GroupedLists entries_;
};

}  // namespace nearcast::igpt
