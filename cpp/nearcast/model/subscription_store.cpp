#include "nearcast/model/subscription_store.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

template <typename T>
std::uint32_t take_or_append(Array<T>& items, Array<std::uint32_t>& free) {
  if (free.empty()) {
    items.resize(items.size() + 1);
    return static_cast<std::uint32_t>(items.size() - 1);
  }
  const std::uint32_t slot = free.back();
  free.pop_back();
  return slot;
}

TokenSpan as_tokens(const std::uint32_t* words, std::uint32_t count) {
  static_assert(sizeof(Token) == sizeof(std::uint32_t));
  return {reinterpret_cast<const Token*>(words), count};
}

}  // namespace

SubscriptionId SubscriptionStore::new_slot() {
  const Word slot = take_or_append(bounds_, free_slots_);
  if (records_.size() < bounds_.size()) {
    records_.resize(bounds_.size());
    short_.resize(bounds_.size() / 64 + 1);
  }
  return SubscriptionId{slot};
}

SubscriptionStore::Word SubscriptionStore::write_record(const Clause* clause, AreaKind kind,
                                                        Word shape,
                                                        std::span<const Word> extra_entries) {
  Word head = static_cast<Word>(kind) << kKindShift;
  if (clause != nullptr) {
    ensure(clause->positive.size() <= kMaxTokens && clause->negative.size() <= kMaxTokens,
           "a clause has more tokens than a record can count");
    head |= kHasClause | static_cast<Word>(clause->positive.size()) |
            static_cast<Word>(clause->negative.size()) << 13;
  }
  if (!extra_entries.empty()) head |= kHasExtras;
  const Word size = 1 + tokens(head) + (has_shape(head) ? 1 : 0) +
                    (extra_entries.empty() ? 0 : 1 + static_cast<Word>(extra_entries.size()));
  const Word position = words_.allocate(size);
  Word* out = words_.at(position);
  *out++ = head;
  if (clause != nullptr) {
    for (const Token token : clause->positive) *out++ = raw(token);
    for (const Token token : clause->negative) *out++ = raw(token);
  }
  if (has_shape(head)) *out++ = shape;
  if (!extra_entries.empty()) {
    *out++ = static_cast<Word>(extra_entries.size());
    std::copy(extra_entries.begin(), extra_entries.end(), out);
  }
  return position;
}

void SubscriptionStore::free_record(Word position) {
  const Word* words = words_.at(position);
  const auto further = extras(words);
  words_.free(position, 1 + tokens(words[0]) + (has_shape(words[0]) ? 1 : 0) +
                            (further.empty() ? 0 : 1 + static_cast<Word>(further.size())));
}

std::span<const SubscriptionStore::Word> SubscriptionStore::extras(const Word* record) const {
  if (!(record[0] & kHasExtras)) return {};
  const Word* count = record + 1 + tokens(record[0]) + (has_shape(record[0]) ? 1 : 0);
  return {count + 1, *count};
}

void SubscriptionStore::check_room(const Subscription& subscription) const {
  if (free_slots_.empty() && bounds_.size() >= kMaxSlots)
    too_large("subscriptions", std::to_string(live_), "at most 2^30");
  const std::size_t further = subscription.clauses.size();
  if (extras_.size() + further > kMaxSlots + free_extras_.size())
    too_large("clauses of all subscriptions", std::to_string(extras_.size() + further),
              "at most 2^30 beyond the first of each");
  std::size_t words = 8 + 2 * further;  // capacities are rounded up
  for (const Clause& clause : subscription.clauses)
    words += 2 * (2 + clause.positive.size() + clause.negative.size());
  if (words > words_.room())
    too_large("keywords of all subscriptions", std::to_string(words_.places() + words),
              "fewer than 2^32 in all");
  shapes_.check_room(*subscription.area);
}

SubscriptionId SubscriptionStore::add(const Subscription& subscription) {
  check_room(subscription);
  const SubscriptionId id = new_slot();
  ++live_;
  const auto clauses = subscription.clauses;
  std::vector<Word> further;
  for (std::size_t i = 1; i < clauses.size(); ++i) further.push_back(add_extra(id, clauses[i]));
  write_first(id, clauses.empty() ? nullptr : &clauses[0], *subscription.area, further);
  return id;
}

/// Write what stands under the subscription's own number: area, first clause, list of the others.
void SubscriptionStore::write_first(SubscriptionId id, const Clause* clause, const Area& area,
                                    std::span<const Word> further) {
  const AreaKind area_kind = kind_of(area);
  bounds_[raw(id)] = bounds_of(area);
  if (area_kind == AreaKind::kBox && clause != nullptr && further.empty() &&
      clause->positive.size() == 1 && clause->negative.empty()) {
    records_[raw(id)] = raw(clause->positive[0]);
    set_short(raw(id), true);
    return;
  }
  const Word shape_number = area_kind > AreaKind::kBox ? shapes_.add(area) : 0;
  records_[raw(id)] = write_record(clause, area_kind, shape_number, further) + 1;
}

void SubscriptionStore::replace_area(SubscriptionId id, const Area& area) {
  if (kind_of(area) == area_kind(id) && bounds_are_exact(id)) {
    bounds_[raw(id)] = bounds_of(area);
    return;
  }
  // The record's length depends on the area's kind: copied out, freed, written anew.
  const bool has_clause = is_short(raw(id)) || (record(id)[0] & kHasClause) != 0;
  std::vector<Token> plus, minus;
  std::vector<Word> further;
  if (has_clause) {
    const Clause old = clause(EntryId{raw(id)});
    plus.assign(old.positive.begin(), old.positive.end());
    minus.assign(old.negative.begin(), old.negative.end());
  }
  if (is_short(raw(id))) {
    set_short(raw(id), false);
  } else {
    const Word* words = record(id);
    further.assign(extras(words).begin(), extras(words).end());
    if (has_shape(words[0])) shapes_.release(words[1 + tokens(words[0])]);
    free_record(records_[raw(id)] - 1);
  }
  const Clause kept{plus, minus};
  write_first(id, has_clause ? &kept : nullptr, area, further);
}

SubscriptionStore::Word SubscriptionStore::add_extra(SubscriptionId owner, const Clause& clause) {
  const Word number = take_or_append(extras_, free_extras_);
  extras_[number] = {owner, write_record(&clause, AreaKind::kAnywhere, 0, {})};
  return number;
}

void SubscriptionStore::remove(SubscriptionId id) {
  if (is_short(raw(id))) {
    set_short(raw(id), false);
  } else {
    remove_record(id);
  }
  records_[raw(id)] = 0;
  bounds_[raw(id)] = kNowhere;
  free_slots_.push_back(raw(id));
  --live_;
}

void SubscriptionStore::remove_record(SubscriptionId id) {
  const Word* words = record(id);
  for (const Word extra : extras(words)) {
    free_record(extras_[extra].record);
    free_extras_.push_back(extra);
  }
  if (has_shape(words[0])) shapes_.release(words[1 + tokens(words[0])]);
  free_record(records_[raw(id)] - 1);
}

const SubscriptionStore::Word* SubscriptionStore::record(EntryId entry) const {
  if (is_extra(entry)) return words_.at(extras_[raw(entry) & ~kExtraBit].record);
  return record(SubscriptionId{raw(entry)});
}

ShapeStore::Number SubscriptionStore::shape(SubscriptionId id) const {
  const Word* words = record(id);
  return words[1 + tokens(words[0])];
}

AreaKind SubscriptionStore::area_kind(SubscriptionId id) const {
  return is_short(raw(id)) ? AreaKind::kBox : kind(record(id)[0]);
}

Area SubscriptionStore::area(SubscriptionId id) const {
  const AreaKind kind = area_kind(id);
  if (kind == AreaKind::kAnywhere) return Anywhere{};
  if (kind == AreaKind::kBox) return bounds(id);
  return shapes_.area(shape(id));
}

SubscriptionId SubscriptionStore::owner(EntryId entry) const {
  return is_extra(entry) ? extras_[raw(entry) & ~kExtraBit].owner : SubscriptionId{raw(entry)};
}

Clause SubscriptionStore::clause(EntryId entry) const {
  if (!is_extra(entry) && is_short(raw(entry))) return {as_tokens(&records_[raw(entry)], 1), {}};
  const Word* words = record(entry);
  const Word plus = positives(words[0]), minus = negatives(words[0]);
  return {as_tokens(words + 1, plus), as_tokens(words + 1 + plus, minus)};
}

std::size_t SubscriptionStore::memory_bytes() const {
  return bounds_.memory_bytes() + records_.memory_bytes() + short_.memory_bytes() +
         free_slots_.memory_bytes() + words_.memory_bytes() + extras_.memory_bytes() +
         free_extras_.memory_bytes() + shapes_.memory_bytes();
}

void SubscriptionStore::save(ArchiveWriter& out) const {
  out.value(static_cast<std::uint64_t>(live_));
  bounds_.save(out);
  records_.save(out);
  short_.save(out);
  free_slots_.save(out);
  words_.save(out);
  extras_.save(out);
  free_extras_.save(out);
  shapes_.save(out);
}

void SubscriptionStore::load(ArchiveReader& in) {
  live_ = in.value<std::uint64_t>();
  bounds_.load(in);
  records_.load(in);
  short_.load(in);
  free_slots_.load(in);
  words_.load(in);
  extras_.load(in);
  free_extras_.load(in);
  shapes_.load(in);
}

}  // namespace nearcast
