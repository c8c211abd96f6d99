/// Live messages by cell and word, or by word and cell. [AP §5.2.1 MsgIndex of SS- and KK-Index;
/// §5.2.2 of the AP+-Tree's variants AP+s and AP+k]
#pragma once

#include "nearcast/index/baselines/grid_index/grid.h"
#include "nearcast/index/parts/key_directory/key_directory.h"
#include "nearcast/index/parts/message_lists/move_judge.h"

namespace nearcast {

/// Which key of a list comes first: its cell (spatial-prioritized) or its keyword.
enum class GridOrder { kCellFirst, kKeywordFirst };

/// Where a list is in a directory.
struct GridAddress {
  std::uint32_t row, column;

  static GridAddress of(GridOrder order, std::uint32_t cell, Token key) {
    if (order == GridOrder::kCellFirst) return {cell, raw(key)};
    return {key == kUnknownToken ? 0 : raw(key) + 1, cell};
  }
};

/// Where the middle 99 % of the areas have their centres: a few far away would leave all others in
/// one cell.
Rect frame_of(const SubscriptionStore& store);

class GridMessages {
 public:
  GridMessages(GridOrder order, std::uint32_t side) : order_(order), grid_(kWorld, side) {}

  void attach(const MessageStore& messages) { lists_.attach(messages); }
  void set_frame(const Rect& frame);  ///< files all messages anew

  void keep(MessageId id);
  void drop(MessageId id);

  /// Appends the messages that match the entry; `key` is one of its positive tokens, or
  /// kUnknownToken if it has none.
  void find(const SubscriptionStore& store, EntryId entry, Token key,
            std::vector<MessageId>& out) const;
  /// Passes to the judge all messages that the entry may gain or lose between the two boxes.
  void show(const MoveJudge& judge, const SubscriptionStore& store, EntryId entry, Token key,
            const Rect& from, const Rect& to) const;

  std::size_t memory_bytes() const { return directory_.memory_bytes() + lists_.memory_bytes(); }
  void check() const;

 private:
  void file(MessageId id);
  std::uint32_t list_at(std::uint32_t cell, Token key) const {
    const GridAddress at = GridAddress::of(order_, cell, key);
    return directory_.find(at.row, at.column);
  }

  GridOrder order_;
  Grid grid_;
  KeyDirectory<> directory_;
  MessageLists lists_;
};

}  // namespace nearcast
