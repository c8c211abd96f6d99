#include "nearcast/index/auto/auto_index.h"
#include "nearcast/model/semantics.h"

namespace nearcast {

namespace plain {
using Kernels = automatic::PlainKernels;
#include "nearcast/index/auto/search.inc.h"
}  // namespace plain

#if NEARCAST_HAS_AVX2_KERNELS
#pragma GCC push_options
#pragma GCC target("avx2,bmi,popcnt")
namespace avx2 {
using Kernels = automatic::Avx2Kernels;
#include "nearcast/index/auto/search.inc.h"

void run(Search& search) { search.run(); }
}  // namespace avx2
#pragma GCC pop_options
#endif

void AutoIndex::prefetch(const Message& message, int step) const {
  for (const Token token : message.tokens) {
    if (raw(token) + 1 >= heads_.size()) break;
    const automatic::Head& head = heads_[raw(token) + 1];
    if (step == 0) {
      __builtin_prefetch(&head);
    } else if (head.is_heavy()) {
      heavies_.prefetch_node(heavies_.list(head.place).root);
    } else if (!head.is_empty()) {
      smalls_.prefetch(head);
    }
  }
}

std::uint32_t AutoIndex::touch(const Message& message) const {
  std::uint32_t touched = 0, sum = 0;
  for (const Token token : message.tokens) {
    if (raw(token) + 1 >= heads_.size()) break;
    const automatic::Head& head = heads_[raw(token) + 1];
    if (head.is_empty()) continue;
    ++touched;
    sum += head.is_heavy() ? heavies_.node(heavies_.list(head.place).root).west[0]
                           : *smalls_.columns(head).west;
  }
  // The sum depends on every read, so none is left out; it is too small to matter.
  return touched + (sum == ~0u);
}

void AutoIndex::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  if (scratch.bits.empty()) scratch.bits.resize(1024);
  for (const Token token : message.tokens) {
    const automatic::Signature hash = automatic::signature_of(token);
    scratch.bits[hash >> 6] |= std::uint64_t{1} << (hash & 63);
  }
  for (int part = 0; part < message.place.parts; ++part) {
    const automatic::Query query{frame_.cells(message.place.part[part])};
    const bool may_repeat = message.place.parts > 1;
#if NEARCAST_HAS_AVX2_KERNELS
    if (uses_avx2_) {
      avx2::Search search{store_,  smalls_, heavies_, heads_.data(), heads_.size(),
                          message, scratch, sink,     query,         may_repeat};
      avx2::run(search);
      continue;
    }
#endif
    plain::Search{store_,  smalls_, heavies_, heads_.data(), heads_.size(),
                  message, scratch, sink,     query,         may_repeat}
        .run();
  }
  for (const Token token : message.tokens) scratch.bits[automatic::signature_of(token) >> 6] = 0;
}

}  // namespace nearcast
