/// Numbers of attributes in 16 bits, with finer cells where more ranges end.
///
/// Each attribute has an axis. Its ticks are ends of ranges, at equal shares of all of them; between
/// two ticks an axis is linear. An axis without ticks goes by the leading bits of a number. The map
/// is monotone: numbers whose cells differ lie as their cells do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/index/ours/sized_lists/frame.h"
#include "nearcast/model/attribute.h"

namespace nearcast::sized_lists {

class NumberAxes {
 public:
  static constexpr std::size_t kTicks = 1024;  ///< of an axis, at most

  Cell cell(Token name, double number) const;
  /// Puts ticks where these ends of ranges are, which it reorders. Cells of before mean nothing.
  void fit(Token name, std::vector<double>& ends);

  /// Entries that are filed by the attribute. Below, `count`: after a change of it.
  std::uint32_t filed(Token name) const {
    const Axis* axis = find(name);
    return axis == nullptr ? 0 : axis->filed;
  }
  std::uint32_t file(Token name);    ///< one more
  std::uint32_t unfile(Token name);  ///< one less; the last one takes the axis with it
  void clear();

  std::size_t memory_bytes() const { return axes_.memory_bytes() + ticks_.memory_bytes(); }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  void check_loaded() const;  ///< throws a snapshot error

 private:
  struct Axis {
    Token name;
    std::uint32_t filed;
    std::uint32_t start, ticks;  ///< in ticks_
  };

  const Axis* find(Token name) const {
    const Axis* found = std::lower_bound(axes_.begin(), axes_.end(), name, is_before);
    return found != axes_.end() && found->name == name ? found : nullptr;
  }
  static bool is_before(const Axis& axis, Token name) { return raw(axis.name) < raw(name); }
  Axis& make(Token name);  ///< or the one that is there

  Array<Axis> axes_;                ///< by name, ascending
  ListArena<std::uint64_t> ticks_;  ///< ordered_key() of each, ascending
};

}  // namespace nearcast::sized_lists
