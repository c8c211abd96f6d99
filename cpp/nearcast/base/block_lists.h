/// Many lists of plain values, each ascending by a key that no two of its elements share. Any
/// element is found, inserted and erased in a number of steps that hardly grows with its list.
///
/// A list of up to kBlock elements is one stretch of memory. A longer one is a row of blocks and a
/// directory of where each lies and with which key it begins. A full block is split, but one that
/// grows at its end is left full and followed by a new one: elements that come in order lie
/// densely. A block that is nearly empty is joined with a neighbour.
///
/// KeyOf is a function object from an element to its key of 32 or 64 bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/change_steps.h"
#include "nearcast/base/errors.h"
#include "nearcast/base/list_arena.h"

namespace nearcast {

/// One list; its user keeps this handle. All zero: an empty list.
struct BlockList {
  std::uint32_t start = 0;   ///< of the elements, or of the directory
  std::uint32_t size = 0;    ///< elements in all
  std::uint32_t packed = 0;  ///< size class of what starts there; above it, the number of blocks
};

template <typename T, typename KeyOf>
class BlockLists {
 public:
  static constexpr std::uint32_t kBlock = 64;
  using Key = std::remove_cvref_t<std::invoke_result_t<KeyOf, const T&>>;
  static_assert(std::is_unsigned_v<Key>);

  /// Calls visit(elements) for each stretch of elements, in ascending order.
  template <typename Visit>
  void for_each_block(const BlockList& list, Visit&& visit) const {
    if (list.size <= kBlock) {
      if (list.size != 0) visit(elements_.view(short_handle(list)));
      return;
    }
    for (const Block& block : blocks_.view(long_handle(list))) visit(view(block));
  }

  /// The same without the elements before `key`, until visit(elements) is false.
  template <typename Visit>
  void for_each_block_from(const BlockList& list, Key key, Visit&& visit) const {
    if (list.size == 0) return;
    if (list.size <= kBlock) {
      const std::span<const T> all = elements_.view(short_handle(list));
      const std::span<const T> rest = all.subspan(place_for(all, key));
      if (!rest.empty()) visit(rest);
      return;
    }
    const auto blocks = blocks_.view(long_handle(list));
    for (std::size_t i = block_for(list, key); i < blocks.size(); ++i) {
      const std::span<const T> all = view(blocks[i]);
      const std::span<const T> rest = all.subspan(place_for(all, key));
      if (!rest.empty() && !visit(rest)) return;
    }
  }

  /// Some element of a list that is not empty, by a random number; any may be chosen.
  const T& any(const BlockList& list, std::uint64_t random) const {
    std::span<const T> block;
    if (list.size <= kBlock) {
      block = elements_.view(short_handle(list));
    } else {
      const auto blocks = blocks_.view(long_handle(list));
      block = view(blocks[random % blocks.size()]);
      random /= blocks.size();
    }
    return block[random % block.size()];
  }

  /// Puts `item` in the place of the element with this key; none has a key between the two.
  void replace(const BlockList& list, Key key, const T& item) {
    T* const found = find(list, key);
    ensure(found != nullptr, "an element to replace is not in its list");
    if (list.size > kBlock) {
      Block& block = blocks_.view(long_handle(list))[block_for(list, key)];
      if (found == elements_.at(block.start)) block.first_key = KeyOf{}(item);
    }
    *found = item;
  }
  /// Calls change(element) for each, in ascending order, which stays the order.
  template <typename Change>
  void change_all(const BlockList& list, Change&& change) {
    if (list.size <= kBlock) {
      for (T& each : elements_.view(short_handle(list))) change(each);
      return;
    }
    for (Block& block : blocks_.view(long_handle(list))) {
      for (T& each : std::span<T>(elements_.at(block.start), block.size)) change(each);
      block.first_key = KeyOf{}(*elements_.at(block.start));
    }
  }

  /// What is not part of its key may be changed.
  T* find(const BlockList& list, Key key) {
    return const_cast<T*>(std::as_const(*this).find(list, key));
  }
  const T* find(const BlockList& list, Key key) const {  ///< nullptr: is not there
    if (list.size == 0) return nullptr;
    const std::span<const T> block =
        list.size <= kBlock ? elements_.view(short_handle(list))
                            : view(blocks_.view(long_handle(list))[block_for(list, key)]);
    const std::size_t at = place_for(block, key);
    return at < block.size() && KeyOf{}(block[at]) == key ? &block[at] : nullptr;
  }

  void insert(BlockList& list, const T& item) {  ///< its key is not there
    if (list.size < kBlock) {
      insert_short(list, item);
    } else {
      if (list.size == kBlock) make_long(list);
      insert_long(list, item);
    }
    ++list.size;
  }

  bool erase(BlockList& list, Key key) {  ///< false: it was not there
    if (find(list, key) == nullptr) return false;
    if (list.size <= kBlock) {
      erase_short(list, key);
    } else {
      erase_long(list, key);
    }
    if (--list.size == kBlock) make_short(list);
    return true;
  }

  void release(BlockList& list) {
    if (list.size > kBlock) {
      ListHandle directory = long_handle(list);
      for (const Block& block : blocks_.view(directory)) elements_.free(block.start, kBlock);
      blocks_.release(directory);
    } else {
      ListHandle handle = short_handle(list);
      elements_.release(handle);
    }
    list = {};
  }

  void check(const BlockList& list) const {
    std::uint64_t size = 0;
    const T* before = nullptr;
    for_each_block(list, [&](std::span<const T> block) {
      ensure(!block.empty() && block.size() <= kBlock, "a block is empty or too full");
      size += block.size();
      for (const T& each : block) {
        ensure(before == nullptr || KeyOf{}(*before) < KeyOf{}(each), "a list is out of order");
        before = &each;
      }
    });
    ensure(size == list.size, "a list has another number of elements than it says");
  }

  std::size_t memory_bytes() const { return elements_.memory_bytes() + blocks_.memory_bytes(); }
  void save(ArchiveWriter& out) const {
    elements_.save(out);
    blocks_.save(out);
  }
  void load(ArchiveReader& in) {
    elements_.load(in);
    blocks_.load(in);
  }

 private:
  struct Block {
    std::uint32_t start, size;
    Key first_key;
  };
  static constexpr std::uint32_t kFewest = kBlock / 4, kJoined = kBlock / 4 * 3;
  static constexpr std::uint32_t kClassBits = 6;

  static ListHandle short_handle(const BlockList& list) {
    return {list.start, list.size, list.packed};
  }
  static ListHandle long_handle(const BlockList& list) {
    return {list.start, list.packed >> kClassBits, list.packed & ((1u << kClassBits) - 1)};
  }
  static void set_long(BlockList& list, const ListHandle& directory) {
    list.start = directory.start;
    list.packed = directory.size << kClassBits | directory.size_class;
  }

  std::span<const T> view(const Block& block) const {
    return {elements_.at(block.start), block.size};
  }
  static std::size_t place_for(std::span<const T> sorted, Key key) {
    // Most elements come in order.
    if (!sorted.empty() && KeyOf{}(sorted.back()) < key) return sorted.size();
    return static_cast<std::size_t>(std::ranges::lower_bound(sorted, key, {}, KeyOf{}) -
                                    sorted.begin());
  }
  std::size_t block_for(const BlockList& list, Key key) const {
    const auto blocks = blocks_.view(long_handle(list));
    const auto after = std::ranges::upper_bound(blocks, key, {}, &Block::first_key);
    return after == blocks.begin() ? 0 : static_cast<std::size_t>(after - blocks.begin()) - 1;
  }

  void insert_short(BlockList& list, const T& item) {
    ListHandle handle = short_handle(list);
    const std::size_t at = place_for(elements_.view(handle), KeyOf{}(item));
    elements_.push_back(handle, item);
    const std::span<T> all = elements_.view(handle);
    insert_at(all, at, item);
    list.start = handle.start;
    list.packed = handle.size_class;
  }
  /// The last place is free.
  static void insert_at(std::span<T> all, std::size_t at, const T& item) {
    count_change_steps(all.size() - at);
    std::move_backward(all.begin() + static_cast<std::ptrdiff_t>(at), all.end() - 1, all.end());
    all[at] = item;
  }
  static void close_gap(std::span<T> all, std::size_t at) {
    count_change_steps(all.size() - at);
    std::move(all.begin() + static_cast<std::ptrdiff_t>(at) + 1, all.end(),
              all.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void erase_short(BlockList& list, Key key) {
    ListHandle handle = short_handle(list);
    const std::span<T> all = elements_.view(handle);
    close_gap(all, place_for(all, key));
    // The arena gives the memory back with the last element; there is no order to keep then.
    elements_.swap_remove(handle, handle.size - 1);
    list.start = handle.start;
    list.packed = handle.size_class;
  }

  void insert_long(BlockList& list, const T& item) {
    const Key key = KeyOf{}(item);
    ListHandle directory = long_handle(list);
    std::size_t i = block_for(list, key);
    if (blocks_.view(directory)[i].size == kBlock) i = make_room(directory, i, key);
    Block& block = blocks_.view(directory)[i];
    const std::size_t at = place_for(view(block), key);
    ++block.size;
    insert_at({elements_.at(block.start), block.size}, at, item);
    block.first_key = KeyOf{}(*elements_.at(block.start));
    set_long(list, directory);
  }
  /// Returns the block, not full, where the key belongs.
  std::size_t make_room(ListHandle& directory, std::size_t i, Key key) {
    Block old = blocks_.view(directory)[i];
    Block added{elements_.allocate(kBlock), 0, key};
    const bool is_at_end = KeyOf{}(view(old).back()) < key;
    if (!is_at_end) {
      added.size = kBlock / 2;
      old.size = kBlock - added.size;
      std::copy_n(elements_.at(old.start) + old.size, added.size, elements_.at(added.start));
      added.first_key = KeyOf{}(*elements_.at(added.start));
      blocks_.view(directory)[i] = old;
      count_change_steps(added.size);
    }
    blocks_.push_back(directory, added);
    const std::span<Block> all = blocks_.view(directory);
    count_change_steps(all.size() - i);
    std::move_backward(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end() - 1, all.end());
    all[i + 1] = added;
    return key < added.first_key ? i : i + 1;
  }

  void erase_long(BlockList& list, Key key) {
    ListHandle directory = long_handle(list);
    const std::size_t i = block_for(list, key);
    Block& block = blocks_.view(directory)[i];
    close_gap({elements_.at(block.start), block.size}, place_for(view(block), key));
    --block.size;
    if (block.size != 0) block.first_key = KeyOf{}(*elements_.at(block.start));
    if (block.size <= kFewest) join(directory, i);
    set_long(list, directory);
  }
  void join(ListHandle& directory, std::size_t i) {
    const std::span<Block> all = blocks_.view(directory);
    const auto fits = [&](std::size_t a, std::size_t b) {
      return b < all.size() && all[a].size + all[b].size <= kJoined;
    };
    if (fits(i, i + 1)) {
      merge(directory, i);
    } else if (i > 0 && fits(i - 1, i)) {
      merge(directory, i - 1);
    } else if (all[i].size == 0) {
      drop(directory, i);
    }
  }
  void merge(ListHandle& directory, std::size_t i) {  ///< block i takes the next one's elements
    const std::span<Block> all = blocks_.view(directory);
    std::copy_n(elements_.at(all[i + 1].start), all[i + 1].size,
                elements_.at(all[i].start) + all[i].size);
    count_change_steps(all[i + 1].size);
    all[i].size += all[i + 1].size;
    if (all[i].size != 0) all[i].first_key = KeyOf{}(*elements_.at(all[i].start));
    drop(directory, i + 1);
  }
  void drop(ListHandle& directory, std::size_t i) {
    const std::span<Block> all = blocks_.view(directory);
    elements_.free(all[i].start, kBlock);
    count_change_steps(all.size() - i);
    std::move(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(),
              all.begin() + static_cast<std::ptrdiff_t>(i));
    blocks_.swap_remove(directory, directory.size - 1);
  }

  void make_long(BlockList& list) {
    const ListHandle old = short_handle(list);
    const Block only{elements_.allocate(kBlock), kBlock, KeyOf{}(*elements_.at(old.start))};
    std::copy_n(elements_.at(old.start), kBlock, elements_.at(only.start));
    ListHandle given_back = old;
    elements_.release(given_back);
    ListHandle directory;
    blocks_.push_back(directory, only);
    set_long(list, directory);
    count_change_steps(kBlock);
  }
  void make_short(BlockList& list) {
    ListHandle directory = long_handle(list), made;
    elements_.reserve(made, kBlock);
    std::vector<T> all;
    for (const Block& block : blocks_.view(directory)) {
      const auto own = view(block);
      all.insert(all.end(), own.begin(), own.end());
      elements_.free(block.start, kBlock);
    }
    blocks_.release(directory);
    for (const T& each : all) elements_.push_back(made, each);
    list = {made.start, made.size, made.size_class};
    count_change_steps(kBlock);
  }

  ListArena<T> elements_;
  ListArena<Block> blocks_;
};

}  // namespace nearcast
