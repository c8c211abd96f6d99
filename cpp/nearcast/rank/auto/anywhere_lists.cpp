#include "nearcast/rank/auto/anywhere_lists.h"

#include <algorithm>

namespace nearcast {

void AnywhereLists::add(std::size_t number, const AnywherePosting& posting) {
  if (lists_.size() <= number) lists_.resize(number + 1);
  postings_.push_back(lists_[number], posting);
  ++size_;
}

bool AnywhereLists::remove(std::size_t number, SubscriptionId id) {
  const auto postings = list(number);
  const auto found = std::find_if(postings.begin(), postings.end(),
                                  [&](const AnywherePosting& own) { return own.id == id; });
  if (found == postings.end()) return false;
  postings_.swap_remove(lists_[number], static_cast<std::uint32_t>(found - postings.begin()));
  --size_;
  return true;
}

void AnywhereLists::clear() { *this = {}; }

void AnywhereLists::save(ArchiveWriter& out) const {
  out.value(size_);
  lists_.save(out);
  postings_.save(out);
}

void AnywhereLists::load(ArchiveReader& in) {
  size_ = in.value<std::uint64_t>();
  lists_.load(in);
  postings_.load(in);
}

}  // namespace nearcast
