/// Is a store that was read from a file sound? Checked before anything follows its numbers.
#include <cmath>
#include <vector>

#include "nearcast/base/claims.h"
#include "nearcast/model/subscription_store.h"

namespace nearcast {
namespace {

constexpr const char* kSlot = "a slot of a subscription";
constexpr const char* kRecord = "the record of a subscription";
constexpr const char* kShape = "the shape of an area";
constexpr double kFarthest = 1e6;  ///< no coordinate is farther out, that of a grown area included

bool is_near(double value) { return std::fabs(value) <= kFarthest; }  // false for NaN

bool is_box(const Rect& box) {
  return is_near(box.west) && is_near(box.east) && is_near(box.south) && is_near(box.north) &&
         box.west <= box.east && box.south <= box.north;
}

}  // namespace

struct SubscriptionStore::Check {
  const SubscriptionStore& store;
  const Claims& known;  ///< tokens
  Claims slots, words, extras;
  std::vector<Word> shape_uses;

  Check(const SubscriptionStore& checked, const Claims& known_tokens)
      : store(checked),
        known(known_tokens),
        slots(store.slots()),
        words(store.words_.claim_free()),
        extras(store.extras_.size()),
        shape_uses(store.shapes_.slots()) {
    slots.claim_all(store.free_slots_, kSlot);
    extras.claim_all(store.free_extras_, kRecord);
  }

  void tokens(const Word* first, Word count) const {
    for (Word i = 0; i < count; ++i) {
      expect(known.has(first[i]) && (i == 0 || first[i - 1] < first[i]), "a token of a clause");
    }
  }

  /// Claims the record and checks its tokens; how many words stand before the list of extras.
  Word record(Word position, bool is_first) {
    expect(position < store.words_.places(), kRecord);
    const Word* words_of_record = store.words_.at(position);
    const Word head = words_of_record[0];
    const bool has_clause = (head & kHasClause) != 0, has_extras = (head & kHasExtras) != 0;
    expect(kind(head) <= AreaKind::kUnion && (head & kExtraBit) == 0, kRecord);
    expect(has_clause || (tokens_of(head) == 0 && !has_extras), kRecord);
    expect(is_first || (has_clause && !has_extras && kind(head) == AreaKind::kAnywhere), kRecord);
    const Word fixed = 1 + tokens_of(head) + (has_shape(head) ? 1 : 0);
    std::uint64_t size = fixed;
    if (has_extras) {
      expect(std::uint64_t{position} + fixed < store.words_.places(), kRecord);
      const std::uint64_t count = words_of_record[fixed];
      expect(count >= 1 && count <= store.extras_.size(), kRecord);
      size += 1 + count;
    }
    ListArena<Word>::claim(words, position, size, kRecord);
    tokens(words_of_record + 1, positives(head));
    tokens(words_of_record + 1 + positives(head), negatives(head));
    return fixed;
  }
  static Word tokens_of(Word head) { return SubscriptionStore::tokens(head); }

  void shape(Word number, AreaKind kind) {
    expect(number < shape_uses.size() && store.shapes_.kind(number) == kind, kShape);
    ++shape_uses[number];
  }

  void subscription(SubscriptionId id) {
    slots.claim(raw(id), kSlot);
    expect(is_box(store.bounds(id)), "the bounds of an area");
    if (store.is_short(raw(id))) {
      tokens(&store.records_[raw(id)], 1);
      return;
    }
    const Word position = store.records_[raw(id)] - 1;
    const Word fixed = record(position, /*is_first=*/true);
    const Word* words_of_record = store.words_.at(position);
    if (has_shape(words_of_record[0])) shape(words_of_record[fixed - 1], kind(words_of_record[0]));
    for (const Word extra : store.extras(words_of_record)) {
      extras.claim(extra, kRecord);
      expect(store.extras_[extra].owner == id, kRecord);
      record(store.extras_[extra].record, /*is_first=*/false);
    }
  }
};

void SubscriptionStore::check_loaded(const Claims& known_tokens) const {
  expect(slots() < kExtraBit && extras_.size() < kExtraBit && records_.size() == slots() &&
             short_.size() >= (slots() + 63) / 64,
         kSlot);
  // Slots beyond the last one must not be marked short: they are marked when they are written.
  for (std::size_t word = slots() / 64; word < short_.size(); ++word) {
    const std::uint64_t own = word == slots() / 64 ? slots() % 64 : 0;
    expect(short_[word] >> own == 0, kSlot);
  }
  Check check(*this, known_tokens);
  std::size_t found = 0;
  for_each([&](SubscriptionId id) {
    check.subscription(id);
    ++found;
  });
  expect(found == live_, kSlot);
  shapes_.check_loaded(check.shape_uses);
}

}  // namespace nearcast
