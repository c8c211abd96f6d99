/// Lists too long for one record: each a small R-tree made for vector instructions.
///
///   block   a record of 32 entries, 448 bytes, of which a scan reads 128
///   node    up to 31 children, nodes or blocks, with their boxes in 8 bits
///
/// Boxes are exact unions of what lies below (in cells), at all times: inserting grows them,
/// erasing shrinks them, and nearly empty blocks are merged with a neighbour, so that a tree after
/// many changes is as good as a new one.
///
/// Boxes alone cannot lead to an entry among many with the same box. So entries that boxes do not
/// tell apart are kept in the order of their numbers, and each node knows the numbers below it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/index/ours/sized_lists/kernels.h"
#include "nearcast/index/ours/sized_lists/record.h"

namespace nearcast::sized_lists {

constexpr std::uint32_t kBlockSize = 32;
constexpr std::uint32_t kFanOut = 31;

/// The numbers of entries below a node, from the lowest to the highest.
struct IdRange {
  std::uint32_t low = 0xFFFFFFFFu, high = 0;

  bool has(EntryId id) const { return low <= raw(id) && raw(id) <= high; }
  /// How far is the number outside?
  std::uint32_t gap(EntryId id) const {
    return raw(id) < low ? low - raw(id) : raw(id) > high ? raw(id) - high : 0;
  }
  std::uint32_t gap(const IdRange& other) const {
    return other.high < low ? low - other.high : other.low > high ? other.low - high : 0;
  }
  void add(EntryId id) { add(IdRange{raw(id), raw(id)}); }
  void add(const IdRange& more) {
    low = low < more.low ? low : more.low;
    high = high > more.high ? high : more.high;
  }
  friend bool operator==(const IdRange&, const IdRange&) = default;
};

struct Block {
  alignas(2) std::uint8_t bytes[kBlockSize * kEntryBytes];

  Record record() const { return {bytes, kBlockSize}; }
  Entry entry(std::uint32_t i) const { return record().entry(i); }
  void put(std::uint32_t i, const Entry& entry) { sized_lists::put(bytes, kBlockSize, i, entry); }
  void clear(std::uint32_t i);
  std::uint32_t size() const;            ///< entries are the first ones; the rest match nothing
  std::uint32_t find(EntryId id) const;  ///< position, or size() if it is not there
  CellBox box() const;                   ///< rounded outward to 8 bits
  IdRange ids() const;
};
static_assert(sizeof(Block) == 448);

struct Node {
  std::uint8_t west[32], east[32], south[32], north[32];
  std::uint32_t child[kFanOut];
  std::uint32_t size;

  Columns columns() const { return {west, 32}; }
  void clear();
  void put(std::uint32_t i, std::uint32_t number, const CellBox& box);
  void remove(std::uint32_t i);
  CellBox box(std::uint32_t i) const;  ///< rounded outward to 8 bits
  CellBox box() const;
};
static_assert(sizeof(Node) == 256);

struct Heavy {
  std::uint32_t root;    ///< a node
  std::uint32_t levels;  ///< of nodes; 1: the root's children are blocks
  std::uint32_t size;    ///< entries
};

class HeavyLists {
 public:
  const Heavy& list(std::uint32_t number) const { return lists_[number]; }
  const Node& node(std::uint32_t number) const { return nodes_[number]; }
  const Block& block(std::uint32_t number) const { return blocks_[number]; }
  void prefetch_node(std::uint32_t number) const { prefetch(&nodes_[number], sizeof(Node)); }
  /// What a scan reads first.
  void prefetch_block(std::uint32_t number) const { prefetch(&blocks_[number], 4 * kBlockSize); }

  std::uint32_t make(std::span<Entry> entries);  ///< reorders them
  void free(std::uint32_t number);
  void insert(std::uint32_t number, const Entry& entry);
  bool erase(std::uint32_t number, const Entry& entry);  ///< false: was not there
  bool has(std::uint32_t number, const Entry& entry) const;
  void collect(std::uint32_t number, std::vector<Entry>& out) const;
  void check(std::uint32_t number) const;

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Claims the free parts of lists that were read. The parts in use must be claimed too.
  struct Parts;
  Parts claim_free() const;
  void claim(Parts& parts, std::uint32_t number) const;

 private:
  /// What a change below did to a child: its new box, and perhaps a new sibling.
  struct Outcome {
    CellBox box;
    std::uint32_t sibling = kNone;
    CellBox sibling_box{};
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  static void prefetch(const void* start, std::size_t bytes) {
    const char* at = static_cast<const char*>(start);
    for (std::size_t line = 0; line < bytes; line += 64) prefetch_line(at + line);
  }
  std::uint32_t pack(std::span<Entry> entries, std::uint32_t& levels);
  Outcome insert_below(std::uint32_t node, std::uint32_t level, const Entry& entry);
  Outcome insert_in_block(std::uint32_t block, const Entry& entry);
  Outcome add_child(std::uint32_t node, std::uint32_t level, std::uint32_t child,
                    const CellBox& box);
  CellBox erase_below(std::uint32_t node, std::uint32_t level, const Entry& entry, bool& found);
  bool erase_in_block(std::uint32_t node, std::uint32_t i, const Entry& entry);
  void drop_or_merge(std::uint32_t node, std::uint32_t i, std::uint32_t level);
  void merge(std::uint32_t into, std::uint32_t from, std::uint32_t level);
  void free_below(std::uint32_t node, std::uint32_t level);
  template <typename Visit>
  bool visit_blocks(std::uint32_t node, std::uint32_t level, const Entry* wanted,
                    Visit&& visit) const;
  std::uint32_t take_node();  ///< without children
  std::uint32_t best_child(std::uint32_t node, std::uint32_t level, const Entry& entry) const;
  IdRange ids_of_child(std::uint32_t child, std::uint32_t level) const {  ///< of a node's level
    return level == 1 ? blocks_[child].ids() : ranges_[child];
  }
  IdRange ids_below(std::uint32_t node, std::uint32_t level) const;  ///< from the children
  void claim_below(Parts& parts, std::uint32_t number, std::uint32_t level) const;
  CellBox check_below(std::uint32_t node, std::uint32_t level, std::uint32_t& entries) const;

  Array<Heavy> lists_;
  Array<Node> nodes_;
  Array<IdRange> ranges_;  ///< by node
  Array<Block> blocks_;
  Array<std::uint32_t> free_lists_, free_nodes_, free_blocks_;
};

}  // namespace nearcast::sized_lists
