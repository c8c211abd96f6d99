/// The inverted lists of all cells: by cell and keyword, the entries attached to the cell whose
/// least frequent keyword it is. [AP §3.1 ranked-key inverted list per cell]
///
/// One hash table for all cells, so a cell costs 16 bytes however many keywords the vocabulary has.
/// Each cell has a filter of 64 bits over its keywords; most words of a message fail there, without
/// a look at the table. A cell's lists are chained, for when it is divided or merged.
#pragma once

#include <vector>

#include "nearcast/base/hash.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/slot_table.h"
#include "nearcast/index/quad_tree/posting.h"
#include "nearcast/index/quad_tree/quad_forest.h"
#include "nearcast/index/quad_tree/workload.h"
#include "nearcast/model/entry_map.h"

namespace nearcast::iq {

/// Under which keyword an entry stands, and how often the cost rule took it to be asked for: both
/// chosen when it was placed, while frequencies move on.
struct Choice {
  Token key;  ///< kUnknownToken: a clause without keywords
  float chance;
};

class RankedLists : public QuadContent {
 public:
  struct Item {
    EntryId entry;
    Choice choice;
    Rect box;
  };

  RankedLists(const SubscriptionStore& store, const Workload& workload,
              const EntryMap<Choice>& choices, double copy_cost)
      : store_(store), workload_(workload), choices_(choices), copy_cost_(copy_cost) {}

  void created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell);
  void freed(QuadNodeId node) { cells_[raw(node)] = Cell{}; }
  void attach(QuadNodeId node, const Item& item);
  void detach(QuadNodeId node, const Item& item);
  void take_all(QuadNodeId node, std::vector<Item>& out);
  bool stays(QuadNodeId node, const QuadCell& cell, const Item& item) const;

  /// The bit of a keyword in the filters. Clauses without keywords have one for themselves.
  static std::uint64_t filter_bit(Token key) {
    return std::uint64_t{1} << (key == kUnknownToken ? 63 : hash_of(raw(key)) % 63);
  }
  std::uint64_t filter(QuadNodeId node) const { return cells_[raw(node)].filter; }
  std::span<const QuadPosting> list(QuadNodeId node, Token key) const;

  void clear();
  std::size_t memory_bytes() const;
  /// Throws unless the cell's lists are whole. Returns the number of their postings.
  std::size_t check(QuadNodeId node) const;
  bool has(QuadNodeId node, const Item& item) const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  struct Cell {
    std::uint64_t filter;  ///< may have bits of keywords that are gone
    std::uint32_t first;   ///< 1 + number of a list; 0: none
    float share;           ///< of all messages that visit the cell
  };
  struct KeyList {
    QuadNodeId node;
    Token key;
    std::uint32_t previous, next;  ///< in the cell's chain: 1 + number; 0: none
    ListHandle postings;
  };

  static std::uint32_t hash_of_key(QuadNodeId node, Token key) {
    return hash_of(std::uint64_t{raw(node)} << 32 | raw(key));
  }
  std::uint32_t hash_of_list(std::uint32_t number) const {
    return hash_of_key(lists_[number].node, lists_[number].key);
  }
  std::uint32_t find(QuadNodeId node, Token key) const;
  std::uint32_t create(QuadNodeId node, Token key);
  void free(std::uint32_t number);

  const SubscriptionStore& store_;
  const Workload& workload_;
  const EntryMap<Choice>& choices_;
  double copy_cost_;
  Array<Cell> cells_;  ///< by node
  Array<KeyList> lists_;
  Array<std::uint32_t> free_lists_;
  TaggedTable by_key_;
  ListArena<QuadPosting> postings_;
};

inline std::uint32_t RankedLists::find(QuadNodeId node, Token key) const {
  return by_key_.find(hash_of_key(node, key), [&](std::uint32_t number) {
    return lists_[number].node == node && lists_[number].key == key;
  });
}

inline std::span<const QuadPosting> RankedLists::list(QuadNodeId node, Token key) const {
  const std::uint32_t number = find(node, key);
  if (number == TaggedTable::kNone) return {};
  return postings_.view(lists_[number].postings);
}

}  // namespace nearcast::iq
