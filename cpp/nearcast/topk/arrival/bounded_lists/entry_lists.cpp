#include "nearcast/topk/arrival/bounded_lists/entry_lists.h"

#include "nearcast/base/errors.h"

namespace nearcast::bounded_lists {

std::uint32_t EntryLists::size(std::size_t key) const {
  if (key >= heads_.size()) return 0;
  return is_long(key) ? longs_.size(heads_[key].start) : heads_[key].size;
}

void EntryLists::make_long(std::size_t key) {
  std::vector<Entry> all;
  collect(key, all);
  shorts_.release(heads_[key]);
  heads_[key] = {longs_.make(all), 0, kLong};
}

void EntryLists::make_short(std::size_t key) {
  std::vector<Entry> all;
  collect(key, all);
  longs_.free(heads_[key].start);
  heads_[key] = {};
  for (const Entry& entry : all) shorts_.add(heads_[key], entry);
}

void EntryLists::add(std::size_t key, const Entry& entry) {
  if (key >= heads_.size()) heads_.resize(key + 1);
  if (is_long(key)) {
    longs_.add(heads_[key].start, entry);
  } else {
    shorts_.add(heads_[key], entry);
  }
}

void EntryLists::remove(std::size_t key, const Entry& entry) {
  ensure(key < heads_.size(), "bounded-lists: there is no such list");
  if (is_long(key)) {
    ensure(longs_.remove(heads_[key].start, entry), "bounded-lists: an entry is not in its list");
    return;
  }
  const std::uint32_t place = shorts_.find(heads_[key], entry.id);
  ensure(place != ShortLists::kNowhere, "bounded-lists: an entry is not in its list");
  shorts_.remove(heads_[key], place);
}

void EntryLists::set_slack(std::size_t key, const Entry& entry) {
  ensure(key < heads_.size(), "bounded-lists: there is no such list");
  if (is_long(key)) {
    ensure(longs_.set_slack(heads_[key].start, entry),
           "bounded-lists: an entry is not in its list");
    return;
  }
  const std::uint32_t place = shorts_.find(heads_[key], entry.id);
  ensure(place != ShortLists::kNowhere, "bounded-lists: an entry is not in its list");
  shorts_.set_slack(heads_[key], place, entry.slack);
}

void EntryLists::collect(std::size_t key, std::vector<Entry>& out) const {
  if (key >= heads_.size()) return;
  if (is_long(key)) {
    longs_.collect(heads_[key].start, out);
    return;
  }
  for (std::uint32_t place = 0; place < heads_[key].size; ++place) {
    out.push_back(shorts_.entry(heads_[key], place));
  }
}

void EntryLists::clear() {
  for (std::size_t key = 0; key < heads_.size(); ++key) {
    if (is_long(key)) {
      longs_.free(heads_[key].start);
      heads_[key] = {};
    } else {
      shorts_.release(heads_[key]);
    }
  }
}

}  // namespace nearcast::bounded_lists
