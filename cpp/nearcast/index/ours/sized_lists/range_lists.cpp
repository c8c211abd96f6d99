#include "nearcast/index/ours/sized_lists/range_lists.h"

#include <algorithm>
#include <tuple>

namespace nearcast::sized_lists {
namespace {

/// Has an attribute by which entries are filed one by one reached a size at which its axis is
/// fitted?
bool is_time_to_fit(std::uint32_t filed) { return filed == 64 || filed == 512 || filed == 8192; }

}  // namespace

double RangeLists::share(const NumberRange& range) const {
  const CellBox cells = box(range);
  if (range.low > range.high) return 0;
  return (cells.north - cells.west + 1.0) / (kLastCell + 1.0);
}

RangeLists::List& RangeLists::make(std::uint32_t list, Token name) {
  const std::uint32_t known = number_of(list, name);
  if (known != Table::kNone) return lists_[known];
  const auto number = static_cast<std::uint32_t>(lists_.size());
  lists_.push_back({list, name, {}});
  if (marks_.empty()) marks_.resize(kMarks);
  std::uint8_t& mark = marks_[list % kMarks];
  if (mark != kManyLists) ++mark;
  table_.insert(hash(list, name), number, [&](std::uint32_t other) { return hash(other); });
  return lists_[number];
}

/// The last list gets the number of the one that goes.
void RangeLists::drop(std::uint32_t number) {
  const auto hash_of_number = [&](std::uint32_t other) { return hash(other); };
  const auto last = static_cast<std::uint32_t>(lists_.size() - 1);
  std::uint8_t& mark = marks_[lists_[number].list % kMarks];
  if (mark != kManyLists) --mark;
  table_.erase(hash(number), number, hash_of_number);
  if (number != last) {
    table_.erase(hash(last), last, hash_of_number);
    lists_[number] = lists_[last];
    table_.insert(hash(number), number, hash_of_number);
  }
  lists_.pop_back();
}

bool RangeLists::add(const Filed& filed, NumberedLists& entries) {
  entries.add(make(filed.list, filed.name).head, filed.entry);
  return is_time_to_fit(axes_.file(filed.name));
}

bool RangeLists::remove(const Filed& filed, NumberedLists& entries) {
  const std::uint32_t number = number_of(filed.list, filed.name);
  if (number == Table::kNone || !entries.remove(lists_[number].head, filed.entry)) return false;
  if (lists_[number].head.is_empty()) drop(number);
  axes_.unfile(filed.name);
  return true;
}

std::vector<RangeLists::Filed> RangeLists::take_all(Token name, NumberedLists& entries) {
  std::vector<Filed> all;
  std::vector<Entry> own;
  for (auto number = static_cast<std::uint32_t>(lists_.size()); number-- > 0;) {
    if (lists_[number].name != name) continue;
    own.clear();
    entries.collect(lists_[number].head, own);
    for (const Entry& entry : own) {
      all.push_back({lists_[number].list, name, entry});
      axes_.unfile(name);
    }
    entries.free(lists_[number].head);
    drop(number);
  }
  return all;
}

void RangeLists::fill(std::span<Filed> all, NumberedLists& entries) {
  const auto key = [](const Filed& filed) {
    return std::tuple(filed.list, raw(filed.name), raw(filed.entry.id));
  };
  std::sort(all.begin(), all.end(),
            [&](const Filed& a, const Filed& b) { return key(a) < key(b); });
  std::vector<Entry> own;
  for (std::size_t start = 0; start < all.size();) {
    const Filed& first = all[start];
    own.clear();
    for (; start < all.size() && all[start].list == first.list && all[start].name == first.name;
         ++start) {
      own.push_back(all[start].entry);
      axes_.file(first.name);
    }
    make(first.list, first.name).head = entries.make(own);
  }
}

void RangeLists::clear() {
  axes_.clear();
  lists_ = {};
  table_ = {};
  marks_ = {};
}

void RangeLists::save(ArchiveWriter& out) const {
  axes_.save(out);
  lists_.save(out);
  table_.save(out);
  marks_.save(out);
}

void RangeLists::load(ArchiveReader& in) {
  axes_.load(in);
  lists_.load(in);
  table_.load(in);
  marks_.load(in);
}

void RangeLists::check_loaded() const {
  axes_.check_loaded();
  expect(lists_.empty() || marks_.size() == kMarks, "a list of ranges");
  for (const List& each : lists_) {
    expect(may_have(each.list), "a list of ranges");
    expect(!each.head.is_empty() && axes_.filed(each.name) != 0, "a list of ranges");
  }
  table_.check_loaded(
      lists_.size(), lists_.size(), [](std::uint32_t) { return true; },
      [&](std::uint32_t number) { return hash(number); });
}

}  // namespace nearcast::sized_lists
