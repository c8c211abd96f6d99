#include "nearcast/index/ours/sized_lists/number_axes.h"

namespace nearcast::sized_lists {

Cell NumberAxes::cell(Token name, double number) const {
  const std::uint32_t cells = kLastCell + 1u;
  const std::uint64_t key = ordered_key(number);
  const Axis* axis = find(name);
  if (axis == nullptr || axis->ticks == 0)
    return static_cast<Cell>(std::min<std::uint64_t>(key >> 48, kLastCell));
  const std::uint64_t* ticks = ticks_.at(axis->start);
  const auto after =
      static_cast<std::uint32_t>(std::upper_bound(ticks, ticks + axis->ticks, key) - ticks);
  const std::uint32_t first = after * cells / (axis->ticks + 1);
  if (after == 0 || after == axis->ticks) return static_cast<Cell>(first);
  const std::uint32_t width = (after + 1) * cells / (axis->ticks + 1) - first;
  const double share = static_cast<double>(key - ticks[after - 1]) /
                       static_cast<double>(ticks[after] - ticks[after - 1]);
  return static_cast<Cell>(first + std::min(width - 1, static_cast<std::uint32_t>(share * width)));
}

NumberAxes::Axis& NumberAxes::make(Token name) {
  const auto at = static_cast<std::size_t>(
      std::lower_bound(axes_.begin(), axes_.end(), name, is_before) - axes_.begin());
  if (at == axes_.size() || axes_[at].name != name) {
    axes_.resize(axes_.size() + 1);
    std::move_backward(axes_.begin() + at, axes_.end() - 1, axes_.end());
    axes_[at] = {name, 0, 0, 0};
  }
  return axes_[at];
}

void NumberAxes::fit(Token name, std::vector<double>& ends) {
  std::sort(ends.begin(), ends.end());
  std::vector<std::uint64_t> ticks;
  const std::size_t count = std::min(ends.size(), kTicks);
  for (std::size_t i = 0; i < count; ++i)
    ticks.push_back(ordered_key(ends[count == 1 ? 0 : i * (ends.size() - 1) / (count - 1)]));
  ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());

  Axis& axis = make(name);
  if (axis.ticks != 0) ticks_.free(axis.start, axis.ticks);
  axis.ticks = static_cast<std::uint32_t>(ticks.size());
  if (ticks.empty()) return;
  axis.start = ticks_.allocate(axis.ticks);
  std::copy(ticks.begin(), ticks.end(), ticks_.at(axis.start));
}

std::uint32_t NumberAxes::file(Token name) { return ++make(name).filed; }

std::uint32_t NumberAxes::unfile(Token name) {
  Axis& axis = make(name);
  if (--axis.filed != 0) return axis.filed;
  if (axis.ticks != 0) ticks_.free(axis.start, axis.ticks);
  std::move(&axis + 1, axes_.end(), &axis);
  axes_.pop_back();
  return 0;
}

void NumberAxes::clear() {
  axes_ = {};
  ticks_ = {};
}

void NumberAxes::save(ArchiveWriter& out) const {
  axes_.save(out);
  ticks_.save(out);
}

void NumberAxes::load(ArchiveReader& in) {
  axes_.load(in);
  ticks_.load(in);
}

void NumberAxes::check_loaded() const {
  constexpr const char* kWhat = "an axis of numbers";
  Claims claims = ticks_.claim_free();
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    expect(i == 0 || raw(axes_[i - 1].name) < raw(axis.name), kWhat);
    expect((axis.filed != 0 || axis.ticks != 0) && axis.ticks <= kTicks, kWhat);
    if (axis.ticks == 0) continue;
    ListArena<std::uint64_t>::claim(claims, axis.start, axis.ticks, kWhat);
    const std::uint64_t* ticks = ticks_.at(axis.start);
    for (std::uint32_t tick = 1; tick < axis.ticks; ++tick)
      expect(ticks[tick - 1] < ticks[tick], kWhat);
  }
}

}  // namespace nearcast::sized_lists
