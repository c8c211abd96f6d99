/// SS-Index and KK-Index: a grid and inverted lists, for subscriptions and for messages alike.
/// [AP §5.2.1 SS-Index, KK-Index; §4.2.5 incremental evaluation]
///
/// A subscription stands in the cells that it touches under its least frequent keyword, a message
/// in its cell under each of its words. SS goes to the cell first and finds the lists of its
/// keywords; KK goes to the keyword first and finds its cells. When a subscription moves, the
/// messages of the cells before and after are judged by "in the new area and not in the old" and
/// the reverse (cells that both cover are passed over), and it is filed anew where its cells
/// changed.
///
///   paper                        here
///   grid file                    Grid
///   ranked-key inverted list     KeyDirectory: cell and keyword, or keyword and cell, to a list
///   MsgIndex                     GridMessages
///   40 cells per dimension       cells
///
/// Departs from the paper: what would be in more than a quarter of all cells is filed in one that
/// is everywhere. The grid covers where most subscriptions were when the index was last built
/// whole, which happens again as it grows; the paper's data had a frame. Clauses without keywords
/// have a word of their own, which every message has.
#pragma once

#include "nearcast/base/block_lists.h"
#include "nearcast/index/baselines/grid_index/grid_messages.h"
#include "nearcast/index/parameters.h"
#include "nearcast/index/parts/quad_tree/posting.h"
#include "nearcast/index/parts/quad_tree/workload.h"
#include "nearcast/model/entry_map.h"

namespace nearcast {

class GridIndex : public MovingIndex {
 public:
  static std::vector<ParameterSpec> parameters();

  void insert(SubscriptionId id) override { build({&id, 1}); }
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  void attach(const MessageStore& messages) override {
    MovingIndex::attach(messages);
    kept_.attach(messages);
  }
  void keep(MessageId id, MatchScratch& scratch, MatchSink& sink) override;
  void drop(MessageId id) override { kept_.drop(id); }
  void find(SubscriptionId id, std::vector<MessageId>& out) const override;
  void move(SubscriptionId id, const Area& to, SubscriptionStore& store,
            MoveChanges& changes) override;

  std::size_t memory_bytes() const override;
  std::size_t message_bytes() const override { return kept_.memory_bytes(); }
  void check_invariants() const override;

 protected:
  GridIndex(const SubscriptionStore& store, const Parameters& parameters, GridOrder order)
      : MovingIndex(store),
        order_(order),
        grid_(kWorld, static_cast<std::uint32_t>(parameters.count("cells"))),
        kept_(order, grid_.side()) {}

 private:
  std::uint32_t list_at(std::uint32_t cell, Token key) const {
    const GridAddress at = GridAddress::of(order_, cell, key);
    return subscriptions_.find(at.row, at.column);
  }
  void rebuild();
  void place(EntryId entry, const Rect& box);
  void attach_to(std::uint32_t cell, EntryId entry, const Rect& box);
  void detach_from(std::uint32_t cell, EntryId entry);
  std::uint32_t list_of(std::uint32_t cell, EntryId entry) const;  ///< is there
  void shift(EntryId entry, const Rect& from, const Rect& to);
  void scan(std::uint32_t cell, Token key, const Message& message, MatchScratch& scratch,
            MatchSink& sink) const;

  GridOrder order_;
  Grid grid_;
  Workload workload_;
  EntryMap<Token> keys_;  ///< under which keyword an entry stands
  KeyDirectory<BlockList> subscriptions_;
  BlockLists<QuadPosting, QuadPosting::KeyOf> postings_;
  GridMessages kept_;
  MoveJudge judge_;
};

class SsIndex final : public GridIndex {
 public:
  SsIndex(const SubscriptionStore& store, const Parameters& parameters)
      : GridIndex(store, parameters, GridOrder::kCellFirst) {}
};

class KkIndex final : public GridIndex {
 public:
  KkIndex(const SubscriptionStore& store, const Parameters& parameters)
      : GridIndex(store, parameters, GridOrder::kKeywordFirst) {}
};

}  // namespace nearcast
