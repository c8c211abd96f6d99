/// IGPT: a quadtree over the places of subscriptions, an inverted file in each cell, and bounds
/// that skip single subscriptions, groups of them, and cells. [Skype §5, Alg. 1]
///
///   paper               here
///   SSimUB_out, _in     nearness_, Term::inner          nearness lost outside and inside the cell
///   λ_T, λ_S            Needs                           arrival/needs.h
///   wtsum, maxwt        Term                            of subscriptions and of newcomers
///   kScore*(G), G.α*    Slot::score, alpha              of a group's first entry; group_columns.h
///
/// Individual pruning: location-aware prefixes with the maximal weight (Theorem 1), inner and outer
/// bounds of nearness (Definition 8), the bound for unseen keywords (Theorem 2). Group pruning:
/// groups of similar α are skipped (Theorem 3) or end early (Theorem 4), cells are skipped (Lemma
/// 6). `ipt` is the same with group pruning off: all entries of a list are tested one by one.
///
/// Departs from the paper:
/// - The loops are the other way round. Alg. 1 goes from cell to cell and looks for each token
///   there; cells are many, and most do not have the token. Here a newcomer computes the nearness
///   of all cells first, then reads, token by token, the groups of all cells.
/// - A group is skipped, or ends, by Theorem 1 too, with the largest wtsum in it: Theorem 1 is what
///   rules out subscriptions at a newcomer's first tokens, whose wtsum is large.
/// - A subscription that passes at a common token, and then with its exact distance, is scored
///   exactly, so other common tokens are not added up during the search. The sums of Alg. 1 hold
///   only what its pruning lets through, so they decide nothing. A subscription that fails at one
///   token fails at all that follow, so it need not be marked as failed.
/// - In pref+ a token that the newcomer does not have counts as its next one. A newcomer on the
///   border of a cell is inside of it.
#pragma once

#include <vector>

#include "nearcast/base/visit_stamps.h"
#include "nearcast/topk/arrival/arrival_index.h"
#include "nearcast/topk/arrival/igpt/cell_files.h"
#include "nearcast/topk/arrival/newcomer.h"
#include "nearcast/topk/top_tuning.h"

namespace nearcast {

class IgptArrival final : public ArrivalIndex {
 public:
  IgptArrival(const TopState& state, const TopTuning& tuning, bool prunes_groups);

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void clear() override;
  void threshold_changed(SubscriptionId id, Units old) override;
  void find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

 private:
  /// A group that is not skipped, or an entry that is to be tested.
  struct Met {
    std::uint32_t number;  ///< of the group, or the term in the table
    std::uint32_t term;    ///< of the newcomer
    float nearness;        ///< of the cell
  };
  /// A subscription whose buffer the newcomer may enter.
  struct Passed {
    SubscriptionId id;
    double text;  ///< the most in common, if no token before this one is
  };

  igpt::CellFiles::Item item_of(SubscriptionId id) const;
  void bound_cells(WorkCounters& work);
  void skim(std::uint32_t term, WorkCounters& work);
  void open(const Met& group);
  void test_entries(WorkCounters& work);
  double text_bound(const Met& entry) const;
  void test_nearness();

  bool prunes_groups_;
  const igpt::BoundsScan& scan_;
  igpt::SubscriptionTable table_;
  QuadForest<igpt::CellFiles> forest_;
  QuadNodeId root_ = kNoQuadNode;

  Newcomer newcomer_;
  std::vector<float> nearness_;  ///< by cell: the most that is left
  std::vector<std::uint32_t> places_;
  std::vector<Met> groups_, entries_;
  std::vector<Passed> passed_;
  std::vector<SubscriptionId> candidates_;
  VisitStamps seen_;
};

}  // namespace nearcast
