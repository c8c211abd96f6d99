/// Nodes of an AP-Tree as plain records: no pointers, so that a snapshot is a copy of the arrays.
/// [AP §3.2.2]
///
///   k-node  words: lower × cuts, upper × cuts, child × (cuts + 1), weight when made × (cuts + 1)
///   s-node  words: child × (cells + 1), weight when made × (cells + 1)
///           lines: region's west, south, east, north; columns − 1 lines of x; rows − 1 of y
///   l-node  a list of postings, ascending by entry
///
/// The last child of a node is its dummy; child 0 means there is none.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "nearcast/base/block_lists.h"
#include "nearcast/base/ids.h"
#include "nearcast/geo/place.h"
#include "nearcast/index/papers/ap_tree/spatial_partition.h"
#include "nearcast/text/signature.h"
#include "nearcast/text/token_order.h"

namespace nearcast::ap {

using NodeRef = std::uint32_t;
constexpr NodeRef kNoNode = 0;
constexpr NodeRef kRoot = 1;

enum class NodeKind : std::uint8_t { kFree, kLeaf, kKeyword, kSpatial };

struct Node {
  NodeKind kind = NodeKind::kFree;
  bool cuts_keywords : 1 = false;  ///< kP: entries below may have keywords left
  bool cuts_space : 1 = false;     ///< sP: entries below may differ in space
  std::uint16_t offset = 0;        ///< N_l: which keyword a k-node cuts by, others: would cut by
  NodeRef parent = kNoNode;
  std::uint32_t weight = 0;       ///< entries below, each once
  std::uint32_t made_weight = 0;  ///< the same when it was made; leaf: the size to try a split at
  std::uint32_t updates = 0;      ///< since it was made
  struct Cuts {
    std::uint32_t words, count;
  };
  struct Grid {
    std::uint32_t words, lines;
    std::uint16_t columns, rows;
  };
  union {
    BlockList postings;
    Cuts cuts;
    Grid grid;
  };

  Node() : postings{} {}

  std::uint32_t dummy() const {
    return kind == NodeKind::kKeyword ? cuts.count : std::uint32_t{grid.columns} * grid.rows;
  }
  std::uint32_t slots() const { return dummy() + 1; }
  std::uint32_t words() const { return kind == NodeKind::kKeyword ? cuts.words : grid.words; }
  std::uint32_t word_count() const {
    return 2 * slots() + (kind == NodeKind::kKeyword ? 2 * cuts.count : 0);
  }
  std::uint32_t children_at() const {
    return words() + (kind == NodeKind::kKeyword ? 2 * cuts.count : 0);
  }
  std::uint32_t made_weights_at() const { return children_at() + slots(); }
  std::uint32_t line_count() const { return 4u + grid.columns - 1 + grid.rows - 1; }
};
static_assert(sizeof(Node) == 32);

struct CutsView {
  std::span<const Position> lowers, uppers;

  std::uint32_t cut_of(Position keyword) const {
    const auto above = std::upper_bound(lowers.begin(), lowers.end(), keyword) - lowers.begin();
    return above == 0 ? 0 : static_cast<std::uint32_t>(above - 1);
  }
};

/// An entry that is being put into its leaves.
struct Item {
  Rect box;
  EntryId entry;
  std::uint32_t positions;  ///< where its keywords' positions begin; kUnplaced ends them
};

/// A box in single precision that holds the original: half the memory. It lets a few more messages
/// through, which are verified anyway.
struct CoarseBox {
  float west = 0, south = 0, east = 0, north = 0;

  CoarseBox() = default;
  explicit CoarseBox(const Rect& box)
      : west(down(box.west)), south(down(box.south)), east(up(box.east)), north(up(box.north)) {}

  friend bool overlaps(const CoarseBox& a, const CoarseBox& b) {
    return (a.west <= b.east) & (b.west <= a.east) & (a.south <= b.north) & (b.south <= a.north);
  }
  bool holds(const Rect& box) const {
    return west <= box.west && south <= box.south && east >= box.east && north >= box.north;
  }

 private:
  static float down(double x) {
    const auto y = static_cast<float>(x);
    return y <= x ? y : std::nextafter(y, -std::numeric_limits<float>::infinity());
  }
  static float up(double x) {
    const auto y = static_cast<float>(x);
    return y >= x ? y : std::nextafter(y, std::numeric_limits<float>::infinity());
  }
};

/// What a leaf keeps of an entry: enough to reject most messages without reading the store.
struct Posting {
  CoarseBox box;
  EntryId entry{};
  std::uint32_t signature = 0;  ///< a bit per keyword; a message that matches has them all
};
struct EntryOfPosting {
  std::uint32_t operator()(const Posting& posting) const { return raw(posting.entry); }
};
using Postings = BlockLists<Posting, EntryOfPosting>;

}  // namespace nearcast::ap
