/// How far may a subscriber go before it must say so? What it was promised, by slot.
/// [AP §5.2.3 AP+-Tree-Safe, footnote 17]
///
///   paper            here        meaning
///   safe region      promised    how far the border may move before the result can change
///   impact region    impact      an entry of the same set, without an id of a user's, that has the
///   same
///                                clauses and the area expanded by `reach`: a message that it gains
///                                may break the promise
///
/// Departs from the paper: messages that would leave count as well as those that would enter, areas
/// of all shapes have safe regions, and the reach follows what the surroundings allow.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/ids.h"

namespace nearcast {

class SafeRegions {
 public:
  struct Region {
    SubscriptionId impact;
    double reach;     ///< the promise is never longer
    double promised;  ///< at most what is true
  };

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return rows_.memory_bytes() + owners_.memory_bytes(); }
  bool has(SubscriptionId id) const { return raw(id) < rows_.size() && rows_[raw(id)].is_used; }
  bool is_impact(SubscriptionId id) const {
    return raw(id) < owners_.size() && owners_[raw(id)] != 0;
  }
  SubscriptionId owner(SubscriptionId impact) const {
    return SubscriptionId{owners_[raw(impact)] - 1};
  }
  Region& operator[](SubscriptionId id) { return rows_[raw(id)].region; }
  const Region& operator[](SubscriptionId id) const { return rows_[raw(id)].region; }

  void add(SubscriptionId id, const Region& region) {
    grow(rows_, id);
    grow(owners_, region.impact);
    rows_[raw(id)] = {region, 1};
    owners_[raw(region.impact)] = raw(id) + 1;
    ++size_;
  }
  void remove(SubscriptionId id) {
    owners_[raw((*this)[id].impact)] = 0;
    rows_[raw(id)] = {};
    --size_;
  }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t slot = 0; slot < rows_.size(); ++slot) {
      if (rows_[slot].is_used) visit(SubscriptionId{slot}, rows_[slot].region);
    }
  }

  void save(ArchiveWriter& out) const {
    rows_.save(out);
    owners_.save(out);
  }
  void load(ArchiveReader& in) {
    rows_.load(in);
    owners_.load(in);
    size_ = 0;
    for_each([&](SubscriptionId, const Region&) { ++size_; });
  }
  /// Throws a snapshot error unless every promise that was read has an impact region of its own.
  void check_loaded() const {
    constexpr const char* kWhat = "a promise";
    std::size_t owned = 0;
    for (const std::uint32_t owner : owners_) owned += owner != 0;
    expect(owned == size_, kWhat);
    for_each([&](SubscriptionId id, const Region& region) {
      expect(is_impact(region.impact) && owner(region.impact) == id && region.impact != id, kWhat);
      expect(region.reach >= 0 && region.reach < 1e9 && region.promised <= 1e9, kWhat);  // not NaN
    });
  }

 private:
  struct Row {
    Region region;
    std::uint64_t is_used;
  };

  template <typename Items>
  static void grow(Items& items, SubscriptionId id) {
    if (items.size() <= raw(id)) items.resize(raw(id) + 1);
  }

  Array<Row> rows_;              ///< by subscription
  Array<std::uint32_t> owners_;  ///< by impact region: 1 + its subscription; 0: is none
  std::size_t size_ = 0;
};

}  // namespace nearcast
