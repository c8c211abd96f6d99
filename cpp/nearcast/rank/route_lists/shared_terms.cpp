#include "nearcast/rank/route_lists/shared_terms.h"

#include "nearcast/base/errors.h"

namespace nearcast {

std::uint16_t SharedTerms::take(const RankTerms& terms) {
  const auto known = numbers_.find(key_of(terms));
  if (known != numbers_.end()) {
    ++uses_[known->second];
    return known->second;
  }
  auto number = static_cast<std::uint16_t>(terms_.size());
  if (!free_.empty()) {
    number = free_.back();
    free_.pop_back();
  } else if (terms_.size() < kNone) {
    terms_.resize(terms_.size() + 1);
    uses_.resize(terms_.size());
  } else {
    return kNone;
  }
  terms_[number] = terms;
  uses_[number] = 1;
  numbers_.emplace(key_of(terms), number);
  return number;
}

void SharedTerms::give_back(std::uint16_t number) {
  ensure(number < uses_.size() && uses_[number] != 0,
         "route lists: terms are given back that none has");
  if (--uses_[number] != 0) return;
  numbers_.erase(key_of(terms_[number]));
  free_.push_back(number);
}

void SharedTerms::clear() {
  terms_.clear();
  uses_.clear();
  free_.clear();
  numbers_.clear();
}

std::size_t SharedTerms::memory_bytes() const {
  return terms_.memory_bytes() + uses_.memory_bytes() + free_.size() * sizeof(std::uint16_t) +
         numbers_.size() * (sizeof(Numbers::value_type) + 4 * sizeof(void*));  // links of a node
}

}  // namespace nearcast
