#include "nearcast/rank/route_lists/anywhere_lists.h"

namespace nearcast {

void AnywhereLists::add(std::size_t number, const AnywherePosting& posting) {
  if (lists_.size() <= number) lists_.resize(number + 1);
  postings_.insert(lists_[number], posting);
  ++size_;
}

bool AnywhereLists::remove(std::size_t number, SubscriptionId id) {
  if (number >= lists_.size() || !postings_.erase(lists_[number], raw(id))) return false;
  --size_;
  return true;
}

void AnywhereLists::clear() { *this = {}; }

}  // namespace nearcast
