/// How subscriptions move, and what that costs a node which is divided by space.
/// [AP §4.3.1 cost model, eq. 8–13, Alg. 8]
///
///   paper        here
///   timestamp    a round: as many moves as there are entries
///   velocity     Step: how far a subscription's centre went with its last move
///   r_m          messages that came, per round
///   T_upd        1: each subscription moves once per round, on average
///   ζ_s          cells of the grid that a subscription passes per move
///   T_Δ, T_max   rounds_until_drift, kMaxRounds
///
/// Departs from the paper: it counts ζ in regions of the whole node; what costs is that an entry
/// passes from one of its cells to another, so cells are counted. The index knows neither the time
/// nor which subscriptions will move, so rates are those of the recent past, and nothing is charged
/// before the first move.
#pragma once

#include <cstdint>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/geo/rect.h"
#include "nearcast/index/papers/ap_tree/spatial_partition.h"

namespace nearcast::ap {

struct Step {
  float lon, lat;  ///< degrees
};

class Motion {
 public:
  void moved(SubscriptionId id, const Rect& from, const Rect& to);
  void arrived() { count(messages_); }  ///< a message came
  void forget(SubscriptionId id);

  bool is_seen() const { return moves_ != 0; }
  Step step(SubscriptionId id) const {
    return raw(id) < steps_.size() ? steps_[raw(id)] : Step{0, 0};
  }
  /// Messages that are published while each of `entries` moves once.
  double messages_per_round(double entries) const {
    return entries * static_cast<double>(messages_) / static_cast<double>(moves_);
  }
  std::size_t memory_bytes() const { return steps_.memory_bytes(); }

 private:
  void count(std::uint32_t& what);

  Array<Step> steps_;                       ///< by subscription; zero: was never seen moving
  std::uint32_t moves_ = 0, messages_ = 0;  ///< recent ones: halved now and then
};

/// A moving area, as the cost model sees it.
struct Mover {
  Point at;  ///< its centre
  Step step;
};

struct GridCost {
  double cells, depth;       ///< of the grid; of the node below the root
  double entries, keywords;  ///< |S|, |V| of the node
  double max_leaf_size;      ///< θ_p
  double kl_threshold;       ///< θ_KL
};

/// C_slu + C_irc per round, in comparisons of an entry with a message. `movers` is a sample of the
/// node's entries.
double moving_cost(std::span<const Mover> movers, const Rect& region, const GridCost& grid);

/// Rounds until the movers' shares of equal cells have drifted so far that the node would be made
/// again [AP Alg. 8].
double rounds_until_drift(std::span<const Mover> movers, const Rect& region, std::uint32_t side,
                          double kl_threshold);

}  // namespace nearcast::ap
