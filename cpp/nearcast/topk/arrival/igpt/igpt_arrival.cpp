#include "nearcast/topk/arrival/igpt/igpt_arrival.h"

namespace nearcast {
namespace {

constexpr std::uint32_t kMaxDepth = 24;

}  // namespace

IgptArrival::IgptArrival(const TopState& state, const TopTuning& tuning, bool prunes_groups)
    : ArrivalIndex(state),
      prunes_groups_(prunes_groups),
      scan_(tuning.uses_vectors ? igpt::BoundsScan::best() : igpt::BoundsScan::plain()),
      table_(state),
      forest_(QuadLimits{tuning.max_cell, kMaxDepth}, state, table_,
              prunes_groups ? tuning.alpha_groups : 1) {}

igpt::CellFiles::Item IgptArrival::item_of(SubscriptionId id) const {
  const Point at = state_.subscriptions[id].at;
  return {id, {at.lon, at.lat, at.lon, at.lat}};
}

void IgptArrival::insert(SubscriptionId id) {
  if (root_ == kNoQuadNode) root_ = forest_.create_root();
  table_.add(id);
  forest_.content().count(id);
  forest_.insert(root_, item_of(id));
  forest_.content().regroup_if_outgrown();
}

void IgptArrival::erase(SubscriptionId id) {
  forest_.erase(root_, item_of(id));
  forest_.content().discount(id);
  table_.remove(id);
}

void IgptArrival::clear() {
  forest_.clear();
  table_.clear();
  root_ = kNoQuadNode;
}

void IgptArrival::threshold_changed(SubscriptionId id, Units) { forest_.content().set_needs(id); }

std::size_t IgptArrival::memory_bytes() const {
  return table_.memory_bytes() + forest_.memory_bytes() + forest_.content().memory_bytes();
}

void IgptArrival::check_invariants() const {
  if (root_ == kNoQuadNode) return;
  forest_.nodes().check(root_);
  forest_.content().check_invariants();
}

}  // namespace nearcast
