#include "nearcast/index/papers/ap_tree/keyword_partition.h"

#include <algorithm>
#include <numeric>

#include "nearcast/index/papers/ap_tree/line_cuts.h"

namespace nearcast::ap {
namespace {

// The dynamic program keeps a number per cut and keyword. More keywords than this are first joined
// to runs of little weight; those alone are then not cut apart.
constexpr std::size_t kMaxProgram = 1 << 15;
// The most numbers that it may keep: a quarter of a gigabyte.
constexpr std::size_t kMaxNumbers = 1 << 26;

/// A token between two keywords of a cut opens it, one between two cuts opens none: a gap counts
/// only inside an interval.
std::vector<Stop> line_of(std::span<const KeywordUse> uses) {
  std::vector<Stop> line;
  line.reserve(uses.size() + 1);
  double weight = 0, hits = 0;
  for (const KeywordUse& use : uses) {
    line.push_back({weight, weight, hits, hits + use.gap, weight});
    weight += use.weight;
    hits += use.gap + use.probability;
  }
  line.push_back({weight, weight, hits, hits, weight});
  return line;
}

Cuts program_cuts(Line line, std::size_t most) {
  if (line.size() <= most + 1) {  // each keyword alone
    Cuts all(line.size() - 1);
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }
  most = std::min(most, kMaxNumbers / std::min(line.size(), kMaxProgram));
  if (line.size() <= kMaxProgram) return optimal_cuts(line, most);
  const Cuts runs = even_cuts(line, kMaxProgram - 1);
  std::vector<Stop> coarse;
  for (const std::uint32_t begin : runs) coarse.push_back(line[begin]);
  coarse.push_back(line.back());
  Cuts cuts = optimal_cuts(coarse, most);
  for (std::uint32_t& cut : cuts) cut = runs[cut];
  return cuts;
}

Cuts heuristic_cuts(Line line, std::size_t most) {  // [AP Alg. 3]
  Cuts cuts = even_cuts(line, most);
  improve_cuts(line, cuts);
  return cuts;
}

}  // namespace

KeywordPlan partition_keywords(std::span<const KeywordUse> uses, std::size_t max_cuts,
                               bool is_optimal) {
  const std::vector<Stop> line = line_of(uses);
  const Cuts cuts = is_optimal ? program_cuts(line, max_cuts) : heuristic_cuts(line, max_cuts);
  KeywordPlan plan;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const std::size_t from = cuts[i], to = i + 1 < cuts.size() ? cuts[i + 1] : uses.size();
    plan.lowers.push_back(uses[from].keyword);
    plan.uppers.push_back(uses[to - 1].keyword);
    // However many of its tokens hit a cut, a message opens it once.
    plan.cost += std::min(interval_cost(line, from, to), line[to].begun - line[from].ended);
  }
  return plan;
}

}  // namespace nearcast::ap
