/// Top subscriptions: their keywords, places, and numbers of messages (k).
///
///   record   point, α, length of the vector, k, position of the tokens; what the buffer and the
///            journal need: a change reads one cache line before the buffer itself
///   tokens   how many, then they themselves
///
/// The caller chooses the numbers, which should be dense: memory grows with the largest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/model/top_score.h"

namespace nearcast {

/// Must a buffer be filled anew? No; unless newcomers have filled it; in any case.
enum class Refill : std::uint8_t { kNo, kIfShort, kSurely };

/// Of the buffer with a subscription's messages (topk/result_buffers.h).
struct BufferHead {
  std::uint32_t start = 0, size = 0;
  std::uint8_t size_class = 0;  ///< of the capacity
  Refill refill = Refill::kNo;
};

class TopSubscriptions {
 public:
  struct Record {
    Point at;
    double alpha;
    double length;         ///< of the subscription's vector
    Units threshold;       ///< of the buffer
    std::uint32_t k;       ///< 0: no such subscription
    std::uint32_t tokens;  ///< position in the arena
    BufferHead buffer;
    std::uint32_t page;  ///< of the journal, if that one is the subscription's
  };
  static_assert(sizeof(Record) == 64);

  std::size_t size() const { return size_; }
  std::size_t slots() const { return records_.size(); }  ///< ids are below this
  bool has(SubscriptionId id) const { return raw(id) < slots() && records_[raw(id)].k != 0; }
  const Record& operator[](SubscriptionId id) const { return records_[raw(id)]; }
  void set_threshold(SubscriptionId id, Units units) { records_[raw(id)].threshold = units; }
  BufferHead& buffer(SubscriptionId id) { return records_[raw(id)].buffer; }
  void set_page(SubscriptionId id, std::uint32_t page) { records_[raw(id)].page = page; }
  void prefetch(SubscriptionId id) const { prefetch_line(&records_[raw(id)]); }
  /// Prefetch the tokens, when the record is in the cache.
  void prefetch_tokens(SubscriptionId id) const {
    prefetch_line(tokens_.at(records_[raw(id)].tokens));
  }
  TokenSpan tokens(SubscriptionId id) const {
    const Token* counted = tokens_.at(records_[raw(id)].tokens);
    return {counted + 1, raw(*counted)};
  }

  /// Tokens ascend and are distinct; there is at least one.
  void add(SubscriptionId id, TokenSpan tokens, const TopTerms& terms, const TokenWeights& weights);
  void remove(SubscriptionId id);
  void move(SubscriptionId id, Point at) { records_[raw(id)].at = at; }
  void reweigh(const TokenWeights& weights);

  /// Calls visit(id) for each subscription.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
      if (records_[slot].k != 0) visit(SubscriptionId{slot});
    }
  }

  std::size_t memory_bytes() const { return records_.memory_bytes() + tokens_.memory_bytes(); }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Throws a snapshot error if what was read is not sound, or has a token that is not known.
  void check_loaded(const Claims& known_tokens) const;

 private:
  Array<Record> records_;
  ListArena<Token> tokens_;
  std::size_t size_ = 0;
};

}  // namespace nearcast
