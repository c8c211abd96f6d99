#include <algorithm>

#include "nearcast/base/bounded_array.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/index/ours/sized_lists/scratch.h"
#include "nearcast/index/ours/sized_lists/sized_lists.h"
#include "nearcast/model/semantics.h"

namespace nearcast {

namespace sized_lists {
namespace plain {
using Kernels = PlainKernels;
#include "nearcast/index/ours/sized_lists/search.inc.h"

void run(Search&& search) { search.run(); }
}  // namespace plain

#if NEARCAST_HAS_AVX2_KERNELS
#pragma GCC push_options
#pragma GCC target("avx2,bmi,popcnt")
namespace avx2 {
using Kernels = Avx2Kernels;
#include "nearcast/index/ours/sized_lists/search.inc.h"

void run(Search&& search) { search.run(); }
}  // namespace avx2
#pragma GCC pop_options
#endif
}  // namespace sized_lists

namespace {

/// Nothing forbids it, and then a range may be met twice.
bool has_a_name_twice(std::span<const NumberFact> numbers) {
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (numbers[i].name == numbers[j].name) return true;
    }
  }
  return false;
}

}  // namespace

void SizedLists::prefetch(const Message& message) const {
  for (const Token token : message.tokens) lists_.prefetch(raw(token) + 1);
}

std::uint32_t SizedLists::touch(std::span<const Message> messages) const {
  const auto visit = [&](auto&& use) {
    for (const Message& message : messages) {
      for (const Token token : message.tokens) {
        if (raw(token) + 1 >= lists_.size()) break;
        const sized_lists::Head& head = lists_.heads()[raw(token) + 1];
        const sized_lists::HeavyLists& heavies = lists_.heavies();
        if (head.is_heavy()) {
          use(heavies.node(heavies.list(head.place).root).west);
        } else if (!head.is_empty()) {
          use(lists_.smalls().record(head).start);
        }
      }
    }
  };
  visit([](const std::uint8_t* start) { prefetch_line(start); });
  std::uint32_t touched = 0, sum = 0;
  visit([&](const std::uint8_t* start) { ++touched, sum += *start; });
  // The result depends on every read, so that the compiler keeps them all; it is 1 too high at
  // most.
  return touched + (sum == ~0u);
}

/// Has a word of the message, or none at all, a list of ranges?
bool SizedLists::may_be_in_ranges(const Message& message) const {
  return ranges_.may_have(0) ||
         std::any_of(message.tokens.begin(), message.tokens.end(),
                     [&](Token token) { return ranges_.may_have(raw(token) + 1); });
}

bool SizedLists::is_in_ranges(const Message& message, Token name) const {
  const auto has_list = [&](std::uint32_t list) {
    return ranges_.may_have(list) && ranges_.find(list, name) != nullptr;
  };
  return ranges_.has(name) &&
         (has_list(0) || std::any_of(message.tokens.begin(), message.tokens.end(),
                                     [&](Token token) { return has_list(raw(token) + 1); }));
}

void SizedLists::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  match_group({&message, 1}, scratch, sink);
}

void SizedLists::match_group(std::span<const Message> messages, MatchScratch& scratch,
                             MatchSink& sink) const {
  constexpr std::size_t kProbes = 16;
  BoundedArray<sized_lists::Probe, kProbes> probes;
  for (const Message& message : messages) {
    if (probes.size() + message.place.parts > kProbes) {
      search(probes.view(), scratch, sink);
      probes.clear();
    }
    for (int part = 0; part < message.place.parts; ++part)
      probes.push_back({message, part, frame_.cells(message.place.part[part])});
    if (message.numbers.empty() || ranges_.empty() || !may_be_in_ranges(message)) continue;
    const bool has_twice = has_a_name_twice(message.numbers);
    for (const NumberFact& fact : message.numbers) {
      if (!is_in_ranges(message, fact.name)) continue;
      probes.back().is_last_part = false;
      if (probes.size() == kProbes) {
        search(probes.view(), scratch, sink);
        probes.clear();
      }
      sized_lists::Probe probe(message, 0, ranges_.point(fact));
      probe.is_first_part = false;
      probe.is_last_part = true;
      probe.may_repeat = has_twice;
      probe.name = fact.name;
      probes.push_back(probe);
    }
  }
  if (!probes.empty()) search(probes.view(), scratch, sink);
}

void SizedLists::search(std::span<sized_lists::Probe> probes, MatchScratch& scratch,
                        MatchSink& sink) const {
  auto& own = scratch.own<sized_lists::Scratch>();
#if NEARCAST_HAS_AVX2_KERNELS
  if (uses_avx2_) {
    sized_lists::avx2::run({store_, lists_.smalls(), lists_.heavies(), ranges_, lists_.heads(),
                            lists_.size(), scratch, own, sink, probes});
    return;
  }
#endif
  sized_lists::plain::run({store_, lists_.smalls(), lists_.heavies(), ranges_, lists_.heads(),
                           lists_.size(), scratch, own, sink, probes});
}

}  // namespace nearcast
