/// CIQ, the index that Skype is compared with: every subscription is in cells that divide the
/// whole space, small ones near it and large ones far away, with a bound of the text it needs from
/// messages in each. [Skype §2.2, §8.1]
///
/// [Skype] describes the index in a paragraph and cites its own paper. Rebuilt from that:
///
///   cells      the cell of the quadtree that a subscription is in is divided a number of times;
///   the
///              subscription is filed in the three other children, each time, and in the last cell
///   files      a cell has an inverted file whose lists are sorted by subscription, in blocks: a
///              change moves few entries (base/block_lists.h)
///   newcomers  merge the lists of their tokens, in each cell on their way down the quadtree,
///              subscription at a time: the text in common is known before a subscription is
///              looked at, and has to reach the bound (MinT)
///
/// MinT changes with every threshold. The largest nearness that a subscription can have to a
/// message in the cell does not change: the entry holds it, and MinT follows from it by one
/// multiplication.
#pragma once

#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/block_lists.h"
#include "nearcast/index/parts/quad_tree/quad_cell.h"
#include "nearcast/topk/arrival/arrival_index.h"
#include "nearcast/topk/arrival/key_numbers.h"
#include "nearcast/topk/arrival/newcomer.h"
#include "nearcast/topk/top_tuning.h"

namespace nearcast {

class CiqArrival final : public ArrivalIndex {
 public:
  CiqArrival(const TopState& state, const TopTuning& tuning)
      : ArrivalIndex(state), divisions_(tuning.cell_divisions) {}

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void clear() override;
  void threshold_changed(SubscriptionId id, Units old) override;
  void find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

 private:
  struct Entry {
    SubscriptionId id;
    float weight;
    float nearness;  ///< the most it has to a message in the cell
  };
  struct Row {
    float score, alpha;  ///< kScore*, α*
  };
  struct KeyOf {
    std::uint32_t operator()(const Entry& entry) const { return raw(entry.id); }
  };
  /// How far a merge has come in one list: in a block of it, whose successors are blocks_[next] to
  /// blocks_[last].
  struct Cursor {
    const Entry* entry;
    const Entry* end;
    std::size_t next, last;
    double weight;  ///< of the newcomer's token
  };
  /// A cell by its way down from the root: two bits a step, below a one.
  using CellPath = std::uint32_t;

  static std::uint64_t key_of(CellPath cell, Token token) {
    return static_cast<std::uint64_t>(cell) << 32 | raw(token);
  }
  /// Calls visit(path, cell) for each cell that the subscription is in.
  template <typename Visit>
  void for_each_cell(Point at, Visit&& visit) const;
  void add(std::uint64_t key, const Entry& entry);
  void remove(std::uint64_t key, SubscriptionId id);
  void merge(CellPath cell, WorkCounters& work);

  std::uint32_t divisions_;
  Array<Row> rows_;
  KeyNumbers numbers_;  ///< of lists, by cell and token
  Array<BlockList> lists_;
  BlockLists<Entry, KeyOf> entries_;
  std::size_t size_ = 0;  ///< entries

  Newcomer newcomer_;
  std::vector<Cursor> cursors_;
  std::vector<std::span<const Entry>> blocks_;  ///< of the lists that are merged
  std::vector<SubscriptionId> candidates_;
};

}  // namespace nearcast
