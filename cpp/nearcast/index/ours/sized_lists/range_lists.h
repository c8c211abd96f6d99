/// Lists of entries that are filed by a range of numbers, where the range says more than the area.
///
/// A list is that of a keyword (or of none) and an attribute. Its entries lie in another plane than
/// those of other lists: a range is the box from its low end on eastward and from its high end on
/// southward, and a number is the point on the diagonal. The point is in the box if the number is in
/// the range, and ranges that end alike are neighbours in the plane: a block of entries knows the
/// least low and the greatest high end among them. A message without the attribute meets none.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/hash.h"
#include "nearcast/base/slot_table.h"
#include "nearcast/index/ours/sized_lists/number_axes.h"
#include "nearcast/index/ours/sized_lists/numbered_lists.h"
#include "nearcast/model/condition_program.h"

namespace nearcast::sized_lists {

/// Appends those ends of a range that are finite.
inline void append_ends(const NumberRange& range, std::vector<double>& ends) {
  for (const double end : {range.low, range.high}) {
    if (std::isfinite(end)) ends.push_back(end);
  }
}

class RangeLists {
 public:
  /// An entry and the keyword's list that it is filed under.
  struct Filed {
    std::uint32_t list;
    Token name;
    Entry entry;
  };

  bool empty() const { return lists_.empty(); }
  /// May there be a list of this keyword? Most words have none, and are told so by one byte.
  bool may_have(std::uint32_t list) const { return marks_[list % kMarks] != 0; }
  bool has(Token name) const { return axes_.filed(name) != 0; }
  std::uint32_t filed(Token name) const { return axes_.filed(name); }  ///< entries
  const Head* find(std::uint32_t list, Token name) const {             ///< null: there is none
    const std::uint32_t number = number_of(list, name);
    return number == Table::kNone ? nullptr : &lists_[number].head;
  }

  CellBox box(const NumberRange& range) const {
    return {axes_.cell(range.name, range.low), kLastCell, 0, axes_.cell(range.name, range.high)};
  }
  CellBox point(const NumberFact& fact) const {
    const Cell cell = axes_.cell(fact.name, fact.value);
    return {cell, cell, cell, cell};
  }
  /// The share of the numbers that lie in the range, as far as ends of ranges tell.
  double share(const NumberRange& range) const;

  /// True: it is time to fit() the axis of its attribute.
  bool add(const Filed& filed, NumberedLists& entries);
  bool remove(const Filed& filed, NumberedLists& entries);  ///< false: its id is not there
  void fit(Token name, std::vector<double>& ends) { axes_.fit(name, ends); }
  /// Takes all entries out that are filed by the attribute.
  std::vector<Filed> take_all(Token name, NumberedLists& entries);
  /// Files many, and reorders them. There were none before.
  void fill(std::span<Filed> all, NumberedLists& entries);
  void clear();

  /// Calls visit(list, name, head) for each list.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const List& each : lists_) visit(each.list, each.name, each.head);
  }
  std::size_t memory_bytes() const {
    return axes_.memory_bytes() + lists_.memory_bytes() + table_.memory_bytes() +
           marks_.memory_bytes();
  }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  void check_loaded() const;  ///< throws a snapshot error; heads are not looked at

 private:
  using Table = NumberTable<std::uint32_t>;
  static constexpr std::size_t kMarks = 4096;
  struct List {
    std::uint32_t list;
    Token name;
    Head head;
  };

  static std::uint32_t hash(std::uint32_t list, Token name) {
    return hash_of(std::uint64_t{list} << 32 | raw(name));
  }
  std::uint32_t hash(std::uint32_t number) const {
    return hash(lists_[number].list, lists_[number].name);
  }
  std::uint32_t number_of(std::uint32_t list, Token name) const {
    return table_.find(hash(list, name), [&](std::uint32_t number) {
      return lists_[number].list == list && lists_[number].name == name;
    });
  }
  List& make(std::uint32_t list, Token name);  ///< or the one that is there
  void drop(std::uint32_t number);
  static constexpr std::uint8_t kManyLists = 255;  ///< more are not counted: the mark stays

  NumberAxes axes_;
  Array<List> lists_;
  Table table_;                ///< of lists_
  Array<std::uint8_t> marks_;  ///< how many lists have a number that ends so
};

}  // namespace nearcast::sized_lists
