/// Sized lists: our own index, which `auto` stands for. It is made so that a message reads few
/// cache lines and prefetches each of them early.
///
/// Each clause is filed once, in the list of its rarest keyword; a message has few rare words, so
/// it looks at few entries. Short lists are scanned 16 boxes per step; long ones are small R-trees
/// whose nodes are tested 31 boxes per step. Boxes are compared in 16-bit cells (frame.h). The
/// exact box is needed only if a coordinate of the message is in the same cell as a border.
///
/// A subscription that asks for a range of numbers, and whose area says less than that range, is
/// filed by the range instead of the area (range_lists.h).
///
/// Structural proof: an entry whose signature is kProven has no condition but its list's keyword
/// (or none) and a plain box; when the cells are strictly inside, it is a match without a call of
/// model/semantics. All other entries are decided by model/semantics.
///
///   frame.h          coordinates in 16 bits
///   small_lists.h    up to 64 entries: one record
///   heavy_lists.h    more: a tree of vector-sized nodes
///   numbered_lists.h lists of both sizes, by number
///   range_lists.h    lists by keyword and attribute, in planes of ranges
///   kernels.h        the comparisons, for AVX2 and for any machine
///   arrange.cpp      which numbers many new subscriptions get
///   search.inc.h     a few messages through all lists, in phases that prefetch for each other
#pragma once

#include "nearcast/index/match_index.h"
#include "nearcast/index/ours/sized_lists/numbered_lists.h"
#include "nearcast/index/ours/sized_lists/probe.h"
#include "nearcast/index/ours/sized_lists/range_lists.h"
#include "nearcast/index/parameters.h"
#include "nearcast/index/touchable.h"

namespace nearcast {

class SizedLists final : public MatchIndex, public Touchable {
 public:
  SizedLists(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters();

  bool file_by(const Conditions& conditions) override {
    conditions_ = &conditions;
    return true;
  }
  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  std::vector<std::uint32_t> arrange(const ClauseRows& rows) const override;
  void build(std::span<const SubscriptionId> ids) override;
  void approach(std::span<const SubscriptionId> ids, std::size_t i) const override;
  void prefetch(const Message& message) const override;
  std::uint32_t touch(std::span<const Message> messages) const override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;
  void match_group(std::span<const Message> messages, MatchScratch& scratch,
                   MatchSink& sink) const override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;
  void save(ArchiveWriter& out) const override;
  void load(ArchiveReader& in) override;

 private:
  void check_loaded() const;

  struct Choice {
    std::uint32_t list;  ///< 0: clauses without a keyword; otherwise 1 + token
    Token second;        ///< the next rarest keyword, or kUnknownToken
  };
  /// Where an entry's box lies: among areas, or among ranges of this attribute.
  struct Plane {
    Token name;  ///< kUnknownToken: among areas
    sized_lists::CellBox box;

    bool is_ranged() const { return name != kUnknownToken; }
  };

  Choice choose(const Clause& clause) const;
  Plane plane_of(SubscriptionId id) const;  ///< the one that tells most apart
  Plane area_plane(SubscriptionId id) const {
    return {kUnknownToken, frame_.cells(store_.bounds(id))};
  }
  /// Calls visit(plane) for each that an entry of the subscription may lie in.
  template <typename Visit>
  void for_each_plane(SubscriptionId id, Visit&& visit) const;
  sized_lists::Entry entry_for(EntryId id, Token second, const Plane& plane) const;
  void count(const Clause& clause, int step);
  void add_entries(SubscriptionId id);
  void erase_entry(EntryId id);
  bool remove(std::uint32_t list, const Plane& plane, const sized_lists::Entry& entry);
  bool has(std::uint32_t list, const Plane& plane, const sized_lists::Entry& entry) const;
  void rebuild();
  void fit_axes();
  void fit_axis(Token name);
  bool may_be_in_ranges(const Message& message) const;
  bool is_in_ranges(const Message& message, Token name) const;
  void search(std::span<sized_lists::Probe> probes, MatchScratch& scratch, MatchSink& sink) const;

  bool uses_avx2_;
  const Conditions* conditions_ = nullptr;
  std::uint64_t entries_ = 0;
  sized_lists::Frame frame_;
  Array<std::uint32_t> frequencies_;  ///< by token: clauses that need it
  sized_lists::NumberedLists lists_;
  sized_lists::RangeLists ranges_;
};

template <typename Visit>
void SizedLists::for_each_plane(SubscriptionId id, Visit&& visit) const {
  visit(area_plane(id));
  if (conditions_ == nullptr || !conditions_->has(id)) return;
  std::vector<NumberRange> ranges;
  conditions_->ranges(id, ranges);
  for (const NumberRange& range : ranges) visit(Plane{range.name, ranges_.box(range)});
}

}  // namespace nearcast
