#include "nearcast/model/conditions.h"

#include <algorithm>
#include <string>

#include "nearcast/base/errors.h"
#include "nearcast/model/semantics.h"

namespace nearcast {

void Conditions::check_room(ProgramView program) const {
  if (program.size() > kMaxProgramWords || 2 * program.size() + 8 > words_of_.room())
    too_large("conditions of all subscriptions", std::to_string(program.size()) + " more words",
              "at most 2^22 of one and 2^32 of all");
}

void Conditions::add(SubscriptionId id, ProgramView program, const Area* excluded) {
  if (program.empty() && excluded == nullptr) return;
  std::optional<SubscriptionId> number;
  if (excluded != nullptr) number = excluded_.add({{}, excluded});
  write(id, program, number);
}

void Conditions::write(SubscriptionId id, ProgramView program,
                       std::optional<SubscriptionId> excluded) {
  const Word position =
      words_of_.allocate(static_cast<Word>(1 + (excluded ? 1 : 0) + program.size()));
  Word* out = words_of_.at(position);
  *out++ = static_cast<Word>(program.size()) << 1 | (excluded ? 1 : 0);
  if (excluded) *out++ = raw(*excluded);
  std::copy(program.begin(), program.end(), out);
  if (slots_.size() <= raw(id)) slots_.resize(raw(id) + 1);
  slots_[raw(id)] = position + 1;
  ++count_;
}

void Conditions::copy(SubscriptionId from, SubscriptionId to) {
  if (!has(from)) return;
  const Record source = record(from);
  const std::vector<Word> program(source.program.begin(), source.program.end());
  std::optional<SubscriptionId> number;
  if (source.excluded) {
    const Area area = excluded_.area(*source.excluded);
    number = excluded_.add({{}, &area});
  }
  for_each_token(program, [&](Token token) {
    words_.hold(token);
    terms_.add(words_.word(token));
  });
  for (std::size_t i = phrases_in(program); i > 0; --i) terms_.add_phrase();
  write(to, program, number);
}

void Conditions::remove(SubscriptionId id) {
  if (!has(id)) return;
  const Record gone = record(id);
  for (std::size_t i = phrases_in(gone.program); i > 0; --i) terms_.remove_phrase();
  for_each_token(gone.program, [&](Token token) {
    terms_.remove(words_.word(token));
    words_.release(token);
  });
  if (gone.excluded) excluded_.remove(*gone.excluded);
  words_of_.free(slots_[raw(id)] - 1, gone.size);
  slots_[raw(id)] = 0;
  --count_;
}

Conditions::Record Conditions::record(SubscriptionId id) const {
  const Word* words = words_of_.at(slots_[raw(id)] - 1);
  const bool has_area = (words[0] & 1) != 0;
  const Word count = words[0] >> 1;
  const Word head = has_area ? 2 : 1;
  return {has_area ? std::optional(SubscriptionId{words[1]}) : std::nullopt,
          {words + head, count},
          head + count};
}

bool Conditions::decides_for(SubscriptionId id, const Facts& facts, ShapeMemo* memo) const {
  const Record own = record(id);
  return (own.program.empty() || holds(own.program, facts)) &&
         !(own.excluded && area_touches(excluded_, *own.excluded, *facts.place, memo));
}

bool Conditions::excludes(SubscriptionId id, const Place& place) const {
  if (!has(id)) return false;
  const Record own = record(id);
  return own.excluded && area_touches(excluded_, *own.excluded, place);
}

std::optional<Area> Conditions::excluded(SubscriptionId id) const {
  if (!has(id) || !record(id).excluded) return std::nullopt;
  return excluded_.area(*record(id).excluded);
}

void Conditions::count_uses(std::vector<std::uint32_t>& uses) const {
  for_each([&](SubscriptionId id) {
    for_each_token(record(id).program, [&](Token token) { ++uses[raw(token)]; });
  });
}

void Conditions::count_terms(TermRegistry& terms) const {
  for_each([&](SubscriptionId id) {
    const ProgramView program = record(id).program;
    for_each_token(program, [&](Token token) { terms.add(words_.word(token)); });
    for (std::size_t i = phrases_in(program); i > 0; --i) terms.add_phrase();
  });
}

void Conditions::save(ArchiveWriter& out) const {
  out.value(static_cast<std::uint64_t>(count_));
  slots_.save(out);
  words_of_.save(out);
  excluded_.save(out);
}

void Conditions::load(ArchiveReader& in) {
  count_ = in.value<std::uint64_t>();
  slots_.load(in);
  words_of_.load(in);
  excluded_.load(in);
}

void Conditions::check_records(const Claims& known_tokens) const {
  const Claims none(0);
  excluded_.check_loaded(none);
  Claims words = words_of_.claim_free();
  Claims areas(excluded_.slots());
  std::size_t found = 0, with_area = 0;
  for_each([&](SubscriptionId id) {
    ++found;
    const Word position = slots_[raw(id)] - 1;
    expect(position < words_of_.places(), kWhat);
    const Word head = *words_of_.at(position);
    const bool has_area = (head & 1) != 0;
    ListArena<Word>::claim(words, position, std::uint64_t{head >> 1} + (has_area ? 2 : 1), kWhat);
    expect(head != 0, kWhat);
    const Record own = record(id);
    expect(own.program.empty() ||
               is_sound(own.program, [&](Word token) { return known_tokens.has(token); }),
           kWhat);
    if (!has_area) return;
    ++with_area;
    areas.claim(raw(*own.excluded), kWhat);
    expect(excluded_.is_live(*own.excluded), kWhat);
  });
  expect(found == count_ && with_area == excluded_.size(), kWhat);
}

}  // namespace nearcast
