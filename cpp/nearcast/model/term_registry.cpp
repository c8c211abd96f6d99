#include "nearcast/model/term_registry.h"

#include <algorithm>

#include "nearcast/base/array.h"
#include "nearcast/base/claims.h"

namespace nearcast {

void TermRegistry::count(std::string_view word, std::uint32_t change) {
  Term term;
  if (!read_term(word, term)) return;
  terms_ += static_cast<std::uint64_t>(static_cast<std::int32_t>(change));
  if (term.kind == TermKind::kPrefix) {
    count_prefix(term.name, change);
  } else {
    count_name(term, change);
  }
}

void TermRegistry::count_prefix(std::string_view start, std::uint32_t change) {
  if (start.size() < 2) return;
  starts_.resize(kStarts);
  starts_[start_of(start)] += change;
  const auto length = static_cast<std::uint32_t>(start.size());
  auto at = std::lower_bound(lengths_.begin(), lengths_.end(), length,
                             [](const Length& a, std::uint32_t b) { return a.length < b; });
  if (at == lengths_.end() || at->length != length) at = lengths_.insert(at, {length, 0});
  at->uses += change;
  if (at->uses == 0) lengths_.erase(at);
}

void TermRegistry::count_name(const Term& term, std::uint32_t change) {
  ++version_;
  auto found = names_.find(term.name);
  if (found == names_.end()) found = names_.emplace(std::string(term.name), NameUses{}).first;
  NameUses& uses = found->second;
  switch (term.kind) {
    case TermKind::kEqual:
      uses.equals += change;
      break;
    case TermKind::kTyped:
      uses.types += change;
      break;
    case TermKind::kExists:
      uses.exists += change;
      break;
    case TermKind::kNamed:
      uses.numbers += change;
      break;
    default: {
      std::uint32_t& cells = uses.cells[static_cast<std::size_t>(term.level)];
      cells += change;
      const std::uint64_t bit = std::uint64_t{1} << term.level;
      uses.levels = cells != 0 ? uses.levels | bit : uses.levels & ~bit;
    }
  }
  if (!uses.is_used()) names_.erase(found);
}

std::size_t TermRegistry::memory_bytes() const {
  std::size_t bytes = lengths_.size() * sizeof(Length) + starts_.size() * sizeof(std::uint32_t);
  for (const auto& [name, uses] : names_) bytes += sizeof(NameUses) + sizeof(name) + name.size();
  return bytes;
}

namespace {

template <typename T>
void save_all(std::span<const T> items, ArchiveWriter& out) {
  out.blob(items.data(), items.size() * sizeof(T), sizeof(T));
}

}  // namespace

void TermRegistry::save(ArchiveWriter& out) const {
  std::string letters;
  std::vector<std::uint32_t> ends;
  std::vector<NameUses> uses;
  for (const auto& [name, each] : names_) {
    letters += name;
    ends.push_back(static_cast<std::uint32_t>(letters.size()));
    uses.push_back(each);
  }
  out.value(terms_);
  out.value(phrases_);
  save_all<char>(letters, out);
  save_all<std::uint32_t>(ends, out);
  save_all<NameUses>(uses, out);
  save_all<Length>(lengths_, out);
  save_all<std::uint32_t>(starts_, out);
}

void TermRegistry::load(ArchiveReader& in) {
  constexpr const char* kWhat = "the terms that subscriptions use";
  ++version_;
  terms_ = in.value<std::uint64_t>();
  phrases_ = in.value<std::uint64_t>();
  Array<char> letters;
  Array<std::uint32_t> ends, starts;
  Array<NameUses> uses;
  Array<Length> lengths;
  letters.load(in);
  ends.load(in);
  uses.load(in);
  lengths.load(in);
  starts.load(in);
  expect(ends.size() == uses.size() && (starts.empty() || starts.size() == kStarts), kWhat);
  expect(lengths.empty() || !starts.empty(), kWhat);
  std::uint32_t start = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    expect(start < ends[i] && ends[i] <= letters.size() && uses[i].is_used(), kWhat);
    names_.emplace(std::string(letters.data() + start, ends[i] - start), uses[i]);
    start = ends[i];
  }
  for (std::size_t i = 1; i < lengths.size(); ++i)
    expect(lengths[i - 1].length < lengths[i].length, kWhat);
  lengths_.assign(lengths.begin(), lengths.end());
  starts_.assign(starts.begin(), starts.end());
}

bool TermRegistry::operator==(const TermRegistry& other) const {
  const auto are_equal = [](const NameUses& a, const NameUses& b) {
    return a.equals == b.equals && a.types == b.types && a.exists == b.exists &&
           a.numbers == b.numbers && a.levels == b.levels && a.cells == b.cells;
  };
  if (terms_ != other.terms_ || phrases_ != other.phrases_ || lengths_ != other.lengths_ ||
      names_.size() != other.names_.size())
    return false;
  for (const auto& [name, uses] : names_) {
    const NameUses* theirs = other.find(name);
    if (theirs == nullptr || !are_equal(uses, *theirs)) return false;
  }
  return std::equal(starts_.begin(), starts_.end(), other.starts_.begin(), other.starts_.end()) ||
         lengths_.empty();
}

}  // namespace nearcast
