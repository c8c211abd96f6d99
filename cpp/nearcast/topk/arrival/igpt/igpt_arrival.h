/// IGPT: a quadtree over the places of subscriptions, an inverted file in each cell, and bounds
/// that skip single subscriptions, groups of them, and cells. [Skype §5, Alg. 1]
///
///   paper               here
///   SSimUB_out, _in     Nearby::outer, Row::inner       nearness lost outside and inside the cell
///   λ_T, λ_S            Needs                           arrival/needs.h
///   wtsum, maxwt        Term::weight_sum, max_weight    of subscriptions and of newcomers
///   kScore*(G), G.α*    Entry::score, alpha             of a group's first entry; grouped_list.h
///
/// Individual pruning: location-aware prefixes with the maximal weight (Theorem 1), inner and outer
/// bounds of nearness (Definition 8), the bound for unseen keywords (Theorem 2). Group pruning:
/// groups of similar α are skipped (Theorem 3) or end early (Theorem 4), cells are skipped (Lemma
/// 6). `ipt` is the same with group pruning off.
///
/// Departs from the paper: a subscription that passes at a common token is scored exactly, so what
/// is common beside it need not be added up on the way. Alg. 1 adds up only what its pruning lets
/// through: neither its sums nor its later tests of them decide. Whoever fails at one token fails
/// at all that follow, so nobody has to be marked as failed. In pref+ a token that the newcomer
/// does not have counts as its next one. A newcomer on the border of a cell is outside of it.
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
  /// A cell that the newcomer has to look into.
  struct Nearby {
    std::uint32_t node;
    bool is_inside;  ///< the newcomer is: then nothing is known of distances
    double outer;    ///< the most nearness that is left at the cell; may be negative
  };
  /// A list of a nearby cell.
  struct Lookup {
    std::uint32_t list;
    std::uint32_t cell;  ///< in nearby_
    std::uint32_t term;  ///< of the newcomer
  };

  igpt::CellFiles::Item item_of(SubscriptionId id) const;
  void choose_cells(WorkCounters& work);
  void look_up(WorkCounters& work);
  void search(const Lookup& lookup, WorkCounters& work);
  bool may_concern(const igpt::Entry& entry, const Lookup& lookup) const;

  bool prunes_groups_;
  igpt::SubscriptionTable table_;
  QuadForest<igpt::CellFiles> forest_;
  QuadNodeId root_ = kNoQuadNode;

  Newcomer newcomer_;
  std::vector<Nearby> nearby_;
  std::vector<Lookup> lookups_;
  std::vector<SubscriptionId> candidates_;
  VisitStamps seen_;
};

}  // namespace nearcast
