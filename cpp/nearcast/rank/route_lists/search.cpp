/// Ranks one message with route lists: near lists, anywhere lists, pairs; then scores.
#include "nearcast/base/bounded_array.h"
#include "nearcast/base/errors.h"
#include "nearcast/rank/route_lists/candidates.h"
#include "nearcast/rank/route_lists/route_lists.h"

namespace nearcast {

namespace route_lists {
namespace plain {
using Kernels = sized_lists::PlainKernels;
#include "nearcast/rank/route_lists/search.inc.h"

void run(NearSearch&& search) { search.run(); }
}  // namespace plain

#if NEARCAST_HAS_AVX2_KERNELS
#pragma GCC push_options
#pragma GCC target("avx2,bmi,popcnt")
namespace avx2 {
using Kernels = sized_lists::Avx2Kernels;
#include "nearcast/rank/route_lists/search.inc.h"

void run(NearSearch&& search) { search.run(); }
}  // namespace avx2
#pragma GCC pop_options
#endif
}  // namespace route_lists

namespace {

/// What the cells say for certain about a box and a place.
enum class Relation { kInside, kApart, kUnclear };

Relation relation_of(const sized_lists::CellBox& box, const sized_lists::CellBox& place,
                     bool is_point) {
  const bool are_apart = (box.west > place.east) | (place.west > box.east) |
                         (box.south > place.north) | (place.south > box.north);
  if (are_apart) return Relation::kApart;
  const bool is_inside = (box.west < place.west) & (place.east < box.east) &
                         (box.south < place.south) & (place.north < box.north);
  return is_point && is_inside ? Relation::kInside : Relation::kUnclear;
}

/// Reads the anywhere lists for one message.
class AnywhereSearch {
 public:
  AnywhereSearch(const AnywhereLists& lists, const ScoreRecords& records,
                 const sized_lists::Frame& frame, const Place& place, RankCandidates& candidates,
                 RankSink& sink)
      : lists_(lists),
        records_(records),
        place_(frame.cells(place.part[0])),
        is_point_(place.is_point),
        is_whole_(place.parts == 1),
        candidates_(candidates),
        sink_(sink) {}

  void read(std::size_t list) {
    const std::size_t size = lists_.size(list);
    if (size == 0) return;
    ++sink_.work.nodes_visited;
    sink_.work.candidates += size;
    lists_.for_each_block(list, [&](std::span<const AnywherePosting> postings) { read(postings); });
  }

 private:
  void read(std::span<const AnywherePosting> postings) {
    for (const AnywherePosting& posting : postings) {
      const Relation relation = posting.is_single != 0 && is_whole_
                                    ? relation_of(posting.box, place_, is_point_)
                                    : Relation::kUnclear;
      if (relation == Relation::kUnclear) {
        candidates_.add(posting.id, false);
      } else {
        // The one keyword is there, and text alone reaches the threshold: this is an answer.
        const double alpha = records_.terms(posting.terms).alpha;
        sink_.accept(posting.id, combine(alpha, relation == Relation::kInside ? 1 : 0, 1));
      }
    }
  }

  const AnywhereLists& lists_;
  const ScoreRecords& records_;
  sized_lists::CellBox place_;
  bool is_point_, is_whole_;
  RankCandidates& candidates_;
  RankSink& sink_;
};

bool has_bit(const RankScratch& scratch, Token token) {
  const sized_lists::Signature hash = sized_lists::signature_of(token);
  return scratch.bits[hash >> 6] >> (hash & 63) & 1;
}

/// Reads the pairs with this first token: looks the message's tokens up in the row, or the row's in
/// the message if there are fewer.
void read_pairs(const PostingTables& pairs, Token first, const Message& message,
                const RankScratch& scratch, RankCandidates& candidates, WorkCounters& work) {
  if (raw(first) >= pairs.tables().rows()) return;
  const std::size_t keys = pairs.tables().size(raw(first));
  if (keys == 0) return;
  ++work.nodes_visited;
  const auto take = [&](std::span<const std::uint32_t> items) {
    work.candidates += items.size();
    for (const std::uint32_t item : items) candidates.add(SubscriptionId{item}, false);
  };
  if (keys <= message.tokens.size()) {
    pairs.for_each(raw(first), [&](const TokenTables::Cell& cell) {
      if (has_bit(scratch, token_of(cell.key()))) pairs.for_each_block(cell, take);
    });
  } else {
    for (const Token second : message.tokens)
      pairs.for_each_block(raw(first), key_of(second), take);
  }
}

}  // namespace

void RouteLists::prefetch(const Message& message) const {
  for (const Token token : message.tokens) {
    near_.prefetch(raw(token) + 1);
    anywhere_.prefetch(raw(token) + 1);
    if (raw(token) < pairs_.tables().rows()) pairs_.tables().prefetch(raw(token));
  }
}

void RouteLists::rank(const Message& message, RankScratch& scratch, RankSink& sink) const {
  if (scratch.bits.empty()) scratch.bits.resize(1024);
  for (const Token token : message.tokens) {
    const sized_lists::Signature hash = sized_lists::signature_of(token);
    scratch.bits[hash >> 6] |= std::uint64_t{1} << (hash & 63);
  }
  RankCandidates candidates(store_, records_, message, scratch, sink);
  for (int part = 0; part < message.place.parts; ++part) {
    const sized_lists::Query query{frame_.cells(message.place.part[part])};
#if NEARCAST_HAS_AVX2_KERNELS
    if (uses_avx2_) {
      route_lists::avx2::run({near_, message, scratch, candidates, sink.work, query});
      continue;
    }
#endif
    route_lists::plain::run({near_, message, scratch, candidates, sink.work, query});
  }
  AnywhereSearch anywhere(anywhere_, records_, frame_, message.place, candidates, sink);
  anywhere.read(0);
  for (const Token token : message.tokens) {
    anywhere.read(raw(token) + 1);
    read_pairs(pairs_, token, message, scratch, candidates, sink.work);
  }
  candidates.decide();
  for (const Token token : message.tokens) scratch.bits[sized_lists::signature_of(token) >> 6] = 0;
}

}  // namespace nearcast
