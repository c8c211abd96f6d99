/// The best live messages from an IR-tree: an R-tree of their points whose nodes know how much each
/// token weighs at most below them [Skype §8.1 message index].
///
/// Nodes are visited best first, by the score that a message below them could have: the nearest
/// point of the box, and every keyword at its largest weight. The search ends when the best node
/// left cannot reach the last of the best messages. So it scores few messages, but each node on its
/// path costs look-ups in every child.
#pragma once

#include <memory>
#include <vector>

#include "nearcast/index/parts/r_tree/r_tree.h"
#include "nearcast/topk/search/ir_tree/token_bounds.h"
#include "nearcast/topk/search/message_search.h"
#include "nearcast/topk/top_tuning.h"

namespace nearcast {

class IrTreeSearch final : public MessageSearch {
 public:
  IrTreeSearch(const TopState& state, const TopTuning& tuning);

  void insert(MessageId id) override;
  void erase(MessageId id, bool is_oldest) override;
  void clear() override;
  void best(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
            WorkCounters& work) override;

  std::size_t memory_bytes() const override {
    return tree_->memory_bytes() + tree_->summary().memory_bytes();
  }
  void check_invariants() const override;

 private:
  using Tree = RTree<TokenBounds>;
  struct Waiting {
    Units bound;
    RNodeId node;
  };
  struct Term {
    TokenKey key;
    double text;  ///< of a message's unit vector: what a unit of this token's weight brings
  };

  void start_query(SubscriptionId id);
  void visit_children(const Waiting& visited, Units level, WorkCounters& work);
  void visit_messages(SubscriptionId id, RNodeId leaf, std::size_t count, Units floor,
                      std::vector<Held>& out, WorkCounters& work);
  double nearness(const Rect& box) const;
  double text_below(RNodeId node) const;

  RTreeLimits limits_;
  std::unique_ptr<Tree> tree_;
  // Of one search:
  Point at_{};
  double alpha_ = 0;
  std::vector<Term> terms_;
  std::vector<Waiting> waiting_;  ///< a heap, the best first
};

}  // namespace nearcast
