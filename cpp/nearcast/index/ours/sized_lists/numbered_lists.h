/// Entries in numbered lists, each as short or as long as it must be: a record of columns up to a
/// limit (small_lists.h), a tree of vector-sized nodes beyond it (heavy_lists.h).
///
/// What a list stands for is the owner's choice: sized lists and route lists (rank/) file entries
/// by keyword. An entry is in a list once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/index/ours/sized_lists/heavy_lists.h"
#include "nearcast/index/ours/sized_lists/small_lists.h"
#include "nearcast/model/subscription_store.h"

namespace nearcast::sized_lists {

class NumberedLists {
 public:
  explicit NumberedLists(std::uint32_t small_limit) : small_limit_(small_limit) {}

  std::size_t size() const { return heads_.size(); }  ///< lists are below this
  const Head* heads() const { return heads_.data(); }
  const SmallLists& smalls() const { return smalls_; }
  const HeavyLists& heavies() const { return heavies_; }

  void add(std::uint32_t list, const Entry& entry) {
    if (heads_.size() <= list) heads_.resize(list + 1);
    add(heads_[list], entry);
  }
  bool remove(std::uint32_t list, const Entry& entry) {  ///< false: its id is not there
    return list < heads_.size() && remove(heads_[list], entry);
  }
  bool has(std::uint32_t list, const Entry& entry) const {
    return list < heads_.size() && has(heads_[list], entry);
  }
  void clear();
  /// List i gets entries [starts[i], starts[i + 1]), which are reordered. All were empty before.
  void fill(std::span<const std::uint32_t> starts, std::span<Entry> entries);

  // ---- lists without a number: their owner keeps the heads ----
  void add(Head& head, const Entry& entry);
  bool remove(Head& head, const Entry& entry);
  bool has(const Head& head, const Entry& entry) const;
  Head make(std::span<Entry> entries);  ///< which are reordered
  void collect(const Head& head, std::vector<Entry>& out) const;
  void free(Head& head);

  void prefetch(std::size_t list) const {
    if (list < heads_.size()) prefetch_line(&heads_[list]);
  }

  /// Prefetch what add() and remove() read first.
  void prefetch_entries(std::size_t list) const {
    if (list >= heads_.size() || heads_[list].is_empty()) return;
    const Head& head = heads_[list];
    if (!head.is_heavy()) return smalls_.prefetch_all(head);
    heavies_.prefetch_node(heavies_.list(head.place).root);
  }

  std::size_t memory_bytes() const;
  std::uint64_t check_invariants() const;  ///< returns the number of entries
  std::uint64_t check_invariants(const Head& head) const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Throws a snapshot error if what was read is not sound or has another number of entries. Calls
  /// visit(list, entry) for each; lists without a number have those from size() on.
  using Visit = std::function<void(std::uint32_t, const Entry&)>;
  void check_loaded(std::uint64_t entries, std::span<const Head> others, const Visit& visit) const;

 private:
  std::uint32_t small_limit_;
  Array<Head> heads_;  ///< by list
  SmallLists smalls_;
  HeavyLists heavies_;
};

/// Make the cells fine where the store's boxes are.
void fit_frame(Frame& frame, const SubscriptionStore& store);

/// Has an index that grows little by little reached a size at which it fits its frame again? Beyond
/// the last of these sizes the frame is good enough.
inline bool is_time_to_refit(std::uint64_t before, std::uint64_t after) {
  return (before < 512 && after >= 512) || (before < 8192 && after >= 8192);
}

}  // namespace nearcast::sized_lists
