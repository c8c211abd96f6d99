#include "nearcast/index/papers/ap_tree/line_cuts.h"

#include <algorithm>
#include <limits>

namespace nearcast::ap {
namespace {

std::size_t last_of(Line line) { return line.size() - 1; }

/// One row of the dynamic program after the other: the cheapest way to cover [0, j) with c
/// intervals. The cost obeys the quadrangle inequality (its prefix sums never fall), so the best
/// begin of the last interval never moves left as j grows: divide and conquer finds a row in
/// O(|V| log |V|).
class CutProgram {
 public:
  CutProgram(Line line, std::size_t intervals)
      : line_(line), before_(line.size()), costs_(line.size()) {
    begins_.resize(intervals * line.size());
    for (std::size_t j = 1; j < line.size(); ++j) costs_[j] = interval_cost(line, 0, j);
    for (std::size_t c = 1; c < intervals; ++c) {
      before_.swap(costs_);
      row_ = begins_.data() + c * line.size();
      solve(c + 1, last_of(line), c, last_of(line) - 1);
    }
  }

  Cuts cuts() const {
    Cuts found(begins_.size() / line_.size());
    std::size_t end = last_of(line_);
    for (std::size_t c = found.size(); c-- > 0;) {
      end = found[c] = begins_[c * line_.size() + end];
    }
    return found;
  }

 private:
  void solve(std::size_t low, std::size_t high, std::size_t least, std::size_t most) {
    if (low > high) return;
    const std::size_t middle = low + (high - low) / 2;
    costs_[middle] = std::numeric_limits<double>::infinity();
    for (std::size_t begin = least; begin <= std::min(most, middle - 1); ++begin) {
      const double cost = before_[begin] + interval_cost(line_, begin, middle);
      if (cost >= costs_[middle]) continue;
      costs_[middle] = cost;
      row_[middle] = static_cast<std::uint32_t>(begin);
    }
    solve(low, middle - 1, least, row_[middle]);
    solve(middle + 1, high, row_[middle], most);
  }

  Line line_;
  std::vector<double> before_, costs_;  ///< by end, with one interval less and with this many
  std::vector<std::uint32_t> begins_;   ///< by intervals and end: where the last interval begins
  std::uint32_t* row_ = nullptr;
};

}  // namespace

double total_cost(Line line, const Cuts& cuts) {
  double cost = 0;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    cost += interval_cost(line, cuts[i], i + 1 < cuts.size() ? cuts[i + 1] : last_of(line));
  }
  return cost;
}

Cuts even_cuts(Line line, std::size_t most) {
  const auto middle_below = [](const Stop& stop, double target) { return stop.middle < target; };
  Cuts cuts{0};
  for (std::size_t left = most; left > 1; --left) {
    const std::size_t from = cuts.back();
    // The target follows what is left, so that one heavy keyword does not cost its neighbours
    // their cuts.
    const double target = line[from].middle + (line.back().middle - line[from].middle) / left;
    auto next = static_cast<std::size_t>(
        std::lower_bound(line.begin() + from + 1, line.end() - 1, target, middle_below) -
        line.begin());
    const bool before_is_nearer = target - line[next - 1].middle < line[next].middle - target;
    if (next - 1 > from && before_is_nearer) --next;
    if (next >= last_of(line)) break;
    cuts.push_back(static_cast<std::uint32_t>(next));
  }
  return cuts;
}

void improve_cuts(Line line, Cuts& cuts) {
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const std::size_t from = cuts[i - 1], to = i + 1 < cuts.size() ? cuts[i + 1] : last_of(line);
    double least = interval_cost(line, from, cuts[i]) + interval_cost(line, cuts[i], to);
    for (std::size_t at = from + 1; at < to; ++at) {
      const double cost = interval_cost(line, from, at) + interval_cost(line, at, to);
      if (cost >= least) continue;
      least = cost;
      cuts[i] = static_cast<std::uint32_t>(at);
    }
  }
}

Cuts optimal_cuts(Line line, std::size_t most) {
  return CutProgram(line, std::min(most, last_of(line))).cuts();
}

}  // namespace nearcast::ap
