/// The groups of a token in all cells, side by side in columns, each by its first entry.
///
/// What Theorem 3 needs of a group is in blocks of eight: a newcomer reads, for each of its tokens,
/// the groups that exist, and never looks for a token in a cell that does not have it.
#pragma once

#include <cstdint>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"

namespace nearcast::igpt {

/// One group.
struct Slot {
  float score;                      ///< kScore* of the first entry, less some room for rounding
  float alpha, weight, weight_sum;  ///< the largest α*, maxwt and wtsum
  std::uint32_t cell;
  std::uint32_t filed;  ///< the term of the only entry; or with kMany, the number of the group

  static constexpr std::uint32_t kMany = 0x80000000u;

  friend bool operator==(const Slot&, const Slot&) = default;
};

struct GroupBlock {
  static constexpr std::uint32_t kSize = 8;

  float score[kSize], alpha[kSize], weight[kSize], weight_sum[kSize];
  std::uint32_t cell[kSize], filed[kSize];
};

class GroupColumns {
 public:
  std::uint32_t size(Token token) const {
    return raw(token) < lists_.size() ? lists_[raw(token)].size : 0;
  }
  std::span<const GroupBlock> blocks(Token token) const {
    return blocks_.view(lists_[raw(token)].blocks);
  }
  void prefetch(Token token) const {
    if (raw(token) < lists_.size()) prefetch_line(&lists_[raw(token)]);
  }

  std::uint32_t add(Token token, const Slot& slot) {  ///< returns its place
    if (raw(token) >= lists_.size()) lists_.resize(raw(token) + 1);
    List& list = lists_[raw(token)];
    if (list.size % GroupBlock::kSize == 0) blocks_.push_back(list.blocks, {});
    set(token, list.size, slot);
    return list.size++;
  }
  void set(Token token, std::uint32_t place, const Slot& slot) {
    GroupBlock& block = blocks_.view(lists_[raw(token)].blocks)[place / GroupBlock::kSize];
    const std::uint32_t lane = place % GroupBlock::kSize;
    block.score[lane] = slot.score;
    block.alpha[lane] = slot.alpha;
    block.weight[lane] = slot.weight;
    block.weight_sum[lane] = slot.weight_sum;
    block.cell[lane] = slot.cell;
    block.filed[lane] = slot.filed;
  }
  Slot at(Token token, std::uint32_t place) const {
    const GroupBlock& block = blocks(token)[place / GroupBlock::kSize];
    const std::uint32_t lane = place % GroupBlock::kSize;
    return {block.score[lane],      block.alpha[lane], block.weight[lane],
            block.weight_sum[lane], block.cell[lane],  block.filed[lane]};
  }
  /// Removes a group: the last one takes its place and is returned.
  Slot remove(Token token, std::uint32_t place) {
    List& list = lists_[raw(token)];
    const Slot last = at(token, list.size - 1);
    set(token, place, last);
    if (--list.size % GroupBlock::kSize == 0 && --list.blocks.size == 0)
      blocks_.release(list.blocks);
    return last;
  }
  void clear() {
    lists_.clear();
    blocks_ = {};
  }

  std::size_t memory_bytes() const { return lists_.memory_bytes() + blocks_.memory_bytes(); }

 private:
  struct List {
    ListHandle blocks;
    std::uint32_t size;
  };

  Array<List> lists_;  ///< by token
  ListArena<GroupBlock> blocks_;
};

}  // namespace nearcast::igpt
