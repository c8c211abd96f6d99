/// One token per entry that stands for it: a message without it cannot match. Which one decides how
/// many nodes a message visits. [Rt §4.1 Lemma 1, §4.2 selecting representative tokens]
///
///   paper            here         chosen
///   random           random       any
///   df               df           the most frequent, so that nodes have few different tokens: in a
///                                 bulk load greedily, the token that the most entries without a
///                                 representative have, again and again; singly, the most frequent
///   idf              idf          the rarest, which the fewest messages have
///   locality-aware   locality     the rarest in the entry's cell of a grid, with idf among equals
///
/// An entry keeps its token while it stays, even when frequencies change [Rt §4.2 updates]. A bad
/// choice costs time and never changes an answer.
///
/// The grid divides where the entries of the first large bulk load are, the world before that.
/// Departs from the paper, which does not say what is divided, nor to which cell an area belongs
/// that lies in several: here that of its box's centre.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/geo/rect.h"
#include "nearcast/index/papers/rt_tree/token_tables.h"
#include "nearcast/index/parameters.h"
#include "nearcast/model/entry_map.h"
#include "nearcast/model/subscription_store.h"

namespace nearcast {

class Representatives {
 public:
  Representatives(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters();

  template <typename Visit>
  void for_each_key(EntryId entry, Visit&& visit) const {
    visit(chosen_[entry]);
  }

  void admit(std::span<const EntryId> entries);
  void forget(EntryId entry) { count(entry, -1); }

  std::size_t memory_bytes() const;
  void check_invariants() const;

 private:
  enum class Strategy : std::uint32_t { kLocality, kIdf, kDf, kRandom };
  struct Header {
    Strategy strategy;
    std::uint32_t cells_per_side;
    std::uint64_t entries;
    Rect frame;
  };

  std::vector<EntryId> by_cell(std::span<const EntryId> entries) const;
  void count(EntryId entry, int step);
  TokenKey choose(EntryId entry) const;
  std::uint32_t frequency(TokenKey key) const { return frequencies_[raw(key)]; }
  std::uint32_t local_frequency(std::size_t cell, TokenKey key) const;
  std::size_t cell_of(EntryId entry) const;
  void fit_frame(std::span<const EntryId> entries);

  const SubscriptionStore& store_;
  Header header_;
  EntryMap<TokenKey> chosen_;
  Array<std::uint32_t> frequencies_;  ///< by key
  TokenTables local_frequencies_;     ///< a row is a cell of the grid; with kLocality only
};

/// For each entry its representative, greedily by largest df. [Rt §4.2 df-based method]
std::vector<TokenKey> choose_greedily(const SubscriptionStore& store,
                                      std::span<const EntryId> entries);

}  // namespace nearcast
