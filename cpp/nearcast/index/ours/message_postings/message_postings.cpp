#include "nearcast/index/ours/message_postings/message_postings.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

using postings::CellBox;
using postings::corner;
using postings::PlaceLists;

MessagePostings::MessagePostings(const MessageStore& messages, postings::Scan scan,
                                 std::uint32_t split_at)
    : MessageIndex(messages),
      points_(1, scan),
      boxes_(2, scan),
      parts_(1, scan),
      split_at_(split_at),
      grid_(2, scan) {}

/// A place of two parts counts as the whole range between its ends: a filter may let more pass.
CellBox MessagePostings::cells_of(const Place& place) const {
  const Rect& first = place.part[0];
  return frame_.cells(place.parts == 1 ? first : Rect{-180, first.south, 180, first.north});
}

MessagePostings::Windows MessagePostings::cells_of(std::span<const Rect> windows) const {
  Windows found;
  for (const Rect& window : windows) {
    if (!is_empty(window)) found.box[found.count++] = frame_.cells(window);
  }
  return found;
}

std::size_t MessagePostings::grid_key(std::uint32_t level, std::uint32_t x, std::uint32_t y) {
  const std::size_t above = ((std::size_t{1} << (2 * level)) - 1) / 3;
  return above + (static_cast<std::size_t>(y) << level) + x;
}

std::size_t MessagePostings::grid_key_of(const CellBox& place) {
  std::uint32_t level = kFinest;
  const auto differ = [&](std::uint32_t a, std::uint32_t b) {
    return a >> (16 - level) != b >> (16 - level);
  };
  while (differ(place.west, place.east) || differ(place.south, place.north)) --level;
  return grid_key(level, place.west >> (16 - level), place.south >> (16 - level));
}

/// Calls visit(key) for each cell of each level that a window touches. A cell that both windows
/// touch may come twice.
template <typename Visit>
void MessagePostings::for_each_grid_key(const Windows& windows, Visit&& visit) {
  for (const CellBox& box : windows.view()) {
    for (std::uint32_t level = 0; level <= kFinest; ++level) {
      const auto share = [&](std::uint32_t cell) { return cell >> (16 - level); };
      for (std::uint32_t y = share(box.south); y <= share(box.north); ++y) {
        for (std::uint32_t x = share(box.west); x <= share(box.east); ++x) {
          visit(grid_key(level, x, y));
        }
      }
    }
  }
}

/// The number of live messages counts, not of those held: an index that is made late fits its frame
/// at once.
void MessagePostings::insert(MessageId id) {
  if (next_fit_ != 0 && messages_.size() >= next_fit_) {
    next_fit_ = messages_.size() >= kSecondFit ? 0 : kSecondFit;
    fit_frame();
    if (wants_all_) return;
  }
  put(id);
  ++count_;
}

MessagePostings::Where MessagePostings::where(Token token, const CellBox& place, bool is_point) {
  if (!is_point) return {&boxes_, raw(token)};
  const std::uint32_t number = points_.split(raw(token));
  if (number == 0) return {&points_, raw(token)};
  constexpr std::uint32_t shift = 16 - kSplitBits;
  return {&parts_, part_key(number, place.west >> shift, place.south >> shift)};
}

void MessagePostings::put(MessageId id) {
  const Place place = messages_.place(id);
  const CellBox cells = cells_of(place);
  const std::size_t grid_key = grid_key_of(cells);
  const TokenSpan tokens = messages_.tokens(id);
  // All lists are prefetched before any is written, so that their cache misses overlap.
  for (const Token token : tokens) (place.is_point ? points_ : boxes_).prefetch(raw(token), 0);
  grid_.prefetch(grid_key, 0);
  for (const int step : {0, 1}) {
    for (const Token token : tokens) {
      const Where at = where(token, cells, place.is_point);
      at.lists->prefetch(at.key, step);
    }
  }
  grid_.prefetch(grid_key, 1);
  for (const Token token : tokens) {
    const Where at = where(token, cells, place.is_point);
    at.lists->add(at.key, cells, id);
    if (at.lists == &parts_) points_.count(raw(token), 1);
  }
  grid_.add(grid_key, cells, id);
  if (raw(id) >= where_.size()) {
    const std::size_t known = where_.size();
    where_.resize(std::max<std::size_t>(raw(id) + 1, known + known / 2));
    std::fill(where_.begin() + known, where_.end(), kGone);
  }
  where_[raw(id)] = corner(cells.west, cells.south);
  for (const Token token : tokens) {
    if (place.is_point && points_.length(raw(token)) > split_at_) split(token);
  }
}

/// Splits the list into parts. Stale postings are not taken along.
void MessagePostings::split(Token token) {
  std::vector<std::pair<MessageId, postings::Corner>> moved;
  seen_.start(where_.size());
  points_.for_each(raw(token), [&](MessageId id, postings::Corner low) {
    if (where_[raw(id)] == low) moved.emplace_back(id, low);
  });
  std::uint32_t number = splits_ + 1;
  if (free_splits_.empty()) {
    ++splits_;
  } else {
    number = free_splits_.back();
    free_splits_.pop_back();
  }
  points_.set_split(raw(token), number);
  for (std::size_t i = moved.size();
       i-- > 0;) {  // of two postings of one slot the newer one counts
    const auto [id, low] = moved[i];
    if (!seen_.first_visit(raw(id))) continue;
    const auto x = static_cast<sized_lists::Cell>(low),
               y = static_cast<sized_lists::Cell>(low >> 16);
    const CellBox cells{x, x, y, y};
    parts_.add(where(token, cells, true).key, cells, id);
  }
}

/// Gives the parts of an empty split list back; each was swept with its last message. Otherwise
/// each word that was ever frequent would keep parts of its own.
void MessagePostings::join(Token token) {
  free_splits_.push_back(points_.split(raw(token)));
  points_.set_split(raw(token), 0);
}

void MessagePostings::erase(MessageId id) {
  const Place place = messages_.place(id);
  const CellBox cells = cells_of(place);
  where_[raw(id)] = kGone;
  --count_;
  const TokenSpan tokens = messages_.tokens(id);
  for (const Token token : tokens) (place.is_point ? points_ : boxes_).prefetch(raw(token), 0);
  for (const Token token : tokens) {
    const Where at = where(token, cells, place.is_point);
    if (at.lists == &parts_) points_.count(raw(token), -1);
    if (at.lists->forget(at.key)) sweep(*at.lists, at.key);
    if (at.lists == &parts_ && points_.live(raw(token)) == 0) join(token);
  }
  const std::size_t key = grid_key_of(cells);
  if (grid_.forget(key)) sweep(grid_, key);
}

void MessagePostings::sweep(PlaceLists& lists, std::size_t key) {
  // Of a slot that was used twice the newest posting counts; sweep() calls this for it first.
  seen_.start(where_.size());
  lists.sweep(key, [&](MessageId id, postings::Corner low) {
    return where_[raw(id)] == low && seen_.first_visit(raw(id));
  });
}

void MessagePostings::fit_frame() {
  std::vector<double> lons, lats;
  const std::size_t step = std::max<std::size_t>(1, messages_.slots() / kSample);
  for (std::size_t slot = 0; slot < messages_.slots(); slot += step) {
    const MessageId id{static_cast<std::uint32_t>(slot)};
    if (!messages_.is_live(id)) continue;
    lons.push_back(messages_.centre(id).lon);
    lats.push_back(messages_.centre(id).lat);
  }
  frame_.fit(lons, lats);
  if (count_ == 0) return;
  points_.clear();
  boxes_.clear();
  parts_.clear();
  splits_ = 0;
  free_splits_.clear();
  grid_.clear();
  std::fill(where_.begin(), where_.end(), kGone);
  count_ = 0;
  wants_all_ = true;
}

std::size_t MessagePostings::grid_length(const Windows& windows) const {
  std::size_t length = 0;
  for_each_grid_key(windows, [&](std::size_t key) { length += 1 + grid_.length(key); });
  return length;
}

void MessagePostings::collect(const PlaceLists& lists, std::size_t key, const Windows& windows,
                              std::vector<MessageId>& out) const {
  lists.scan(key, windows.view(), [&](MessageId id) {
    if (where_[raw(id)] != kGone) out.push_back(id);
  });
}

/// Calls visit(lists, key) for each list that may have a message with this token in the windows. A
/// list that both windows need may come twice.
template <typename Visit>
void MessagePostings::for_each_list(Token token, const Windows& windows, Visit&& visit) const {
  visit(boxes_, raw(token));
  const std::uint32_t number = points_.split(raw(token));
  if (number == 0) {
    visit(points_, raw(token));
    return;
  }
  const auto part = [](std::uint32_t cell) { return cell >> (16 - kSplitBits); };
  for (const CellBox& box : windows.view()) {
    for (std::uint32_t y = part(box.south); y <= part(box.north); ++y) {
      for (std::uint32_t x = part(box.west); x <= part(box.east); ++x) {
        visit(parts_, part_key(number, x, y));
      }
    }
  }
}

std::size_t MessagePostings::length(Token token, const Windows& windows) const {
  std::size_t sum = 0;
  for_each_list(token, windows,
                [&](const PlaceLists& lists, std::size_t key) { sum += lists.length(key); });
  return sum;
}

void MessagePostings::propose(const Clause& clause, std::span<const Rect> windows,
                              std::vector<MessageId>& out) const {
  constexpr std::size_t kWorthAsking = 256;  // below it the list of a keyword is cheap to scan
  constexpr std::size_t kTextCost = 8;       // a message that is only near has still to be read
  if (clause.positive.empty()) {
    propose_by_place(windows, out);
    return;
  }
  for (const Token token : clause.positive) points_.prefetch(raw(token), 0);
  const Windows cells = cells_of(windows);
  Token rarest = clause.positive[0];
  std::size_t least = ~std::size_t{0};
  for (const Token token : clause.positive) {
    if (points_.live(raw(token)) + boxes_.live(raw(token)) == 0) return;
    const std::size_t count = length(token, cells);
    if (count < least) {
      least = count;
      rarest = token;
    }
  }
  if (least > kWorthAsking && kTextCost * grid_length(cells) < least) {
    propose_by_place(windows, out);
  } else {
    propose_by_token(rarest, windows, out);
  }
}

void MessagePostings::propose_by_token(Token token, std::span<const Rect> windows,
                                       std::vector<MessageId>& out) const {
  const Windows cells = cells_of(windows);
  for_each_list(token, cells,
                [&](const PlaceLists& lists, std::size_t key) { collect(lists, key, cells, out); });
}

void MessagePostings::propose_by_place(std::span<const Rect> windows,
                                       std::vector<MessageId>& out) const {
  const Windows cells = cells_of(windows);
  for_each_grid_key(cells, [&](std::size_t key) { collect(grid_, key, cells, out); });
}

std::size_t MessagePostings::memory_bytes() const {
  return points_.memory_bytes() + boxes_.memory_bytes() + parts_.memory_bytes() +
         grid_.memory_bytes() + where_.memory_bytes();
}

/// The messages of a list, each once; stale postings are left out.
std::vector<MessageId> MessagePostings::held_in(const PlaceLists& lists, std::size_t key) const {
  std::vector<MessageId> found;
  lists.for_each(key, [&](MessageId id, postings::Corner low) {
    if (where_[raw(id)] == low) found.push_back(id);
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void MessagePostings::check_tokens(const PlaceLists& lists) const {
  for (std::size_t key = 0; key < lists.keys(); ++key) {
    const Token token{static_cast<std::uint32_t>(key)};
    std::vector<MessageId> found = held_in(lists, key);
    if (const std::uint32_t number = lists.split(key)) {
      for (std::size_t part = 0; part < kParts; ++part) {
        const std::size_t at = (static_cast<std::size_t>(number - 1) << (2 * kSplitBits)) + part;
        if (at >= parts_.keys()) continue;
        for (const MessageId id : held_in(parts_, at)) found.push_back(id);
      }
    }
    std::erase_if(found, [&](MessageId id) {
      return !contains(messages_.tokens(id), token) ||
             messages_.is_point(id) != (&lists == &points_);
    });
    ensure(found.size() == lists.live(key),
           "message postings: a list has lost or gained a message");
  }
}

void MessagePostings::check_invariants() const {
  check_tokens(points_);
  check_tokens(boxes_);
  for (std::size_t key = 0; key < grid_.keys(); ++key) {
    std::vector<MessageId> found = held_in(grid_, key);
    std::erase_if(found,
                  [&](MessageId id) { return grid_key_of(cells_of(messages_.place(id))) != key; });
    ensure(found.size() == grid_.live(key),
           "message postings: a cell has lost or gained a message");
  }
  std::size_t held = 0;
  for (std::size_t slot = 0; slot < where_.size(); ++slot) held += where_[slot] != kGone;
  ensure(held == count_, "message postings: the count is wrong");
}

}  // namespace nearcast
