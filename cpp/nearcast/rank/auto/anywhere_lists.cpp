#include "nearcast/rank/auto/anywhere_lists.h"

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
