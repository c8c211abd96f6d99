#include "nearcast/index/message_postings/message_postings.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

using postings::CellBox;
using postings::corner;
using postings::PostingLists;

MessagePostings::MessagePostings(const MessageStore& messages, postings::Scan scan)
    : MessageIndex(messages), points_(1, scan), boxes_(2, scan), grid_(2, scan) {}

/// A place of two parts counts as all that lies between its ends: a filter may let more pass.
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

/// Calls visit(key) for each cell of each level that a window touches; one of two windows' own may
/// come twice.
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

void MessagePostings::insert(MessageId id) {
  if (++count_ == next_fit_) {
    next_fit_ = next_fit_ == kFirstFit ? kSecondFit : 0;
    fit_frame();
  }
  put(id);
}

void MessagePostings::put(MessageId id) {
  const Place place = messages_.place(id);
  const CellBox cells = cells_of(place);
  PostingLists& lists = by_token(place.is_point);
  const TokenSpan tokens = messages_.tokens(id);
  for (const Token token : tokens) lists.prefetch(raw(token));
  for (const Token token : tokens) lists.add(raw(token), cells, id);
  grid_.add(grid_key_of(cells), cells, id);
  if (raw(id) >= where_.size()) {
    const std::size_t known = where_.size();
    where_.resize(std::max<std::size_t>(raw(id) + 1, known + known / 2));
    std::fill(where_.begin() + known, where_.end(), kGone);
  }
  where_[raw(id)] = corner(cells.west, cells.south);
}

void MessagePostings::erase(MessageId id) {
  const Place place = messages_.place(id);
  const CellBox cells = cells_of(place);
  where_[raw(id)] = kGone;
  --count_;
  PostingLists& lists = by_token(place.is_point);
  const TokenSpan tokens = messages_.tokens(id);
  for (const Token token : tokens) lists.prefetch(raw(token));
  for (const Token token : tokens) {
    if (lists.forget(raw(token))) sweep(lists, raw(token));
  }
  const std::size_t key = grid_key_of(cells);
  if (grid_.forget(key)) sweep(grid_, key);
}

void MessagePostings::sweep(PostingLists& lists, std::size_t key) {
  // Of a slot that was used twice the newest posting is the true one, and is asked for first.
  seen_.start(where_.size());
  lists.sweep(key, [&](MessageId id, postings::Corner low) {
    return where_[raw(id)] == low && seen_.first_visit(raw(id));
  });
}

void MessagePostings::fit_frame() {
  std::vector<double> lons, lats;
  std::vector<MessageId> held;
  for (std::uint32_t slot = 0; slot < where_.size(); ++slot) {
    if (where_[slot] == kGone) continue;
    held.push_back(MessageId{slot});
    lons.push_back(messages_.centre(MessageId{slot}).lon);
    lats.push_back(messages_.centre(MessageId{slot}).lat);
  }
  frame_.fit(lons, lats);
  points_.clear();
  boxes_.clear();
  grid_.clear();
  for (const MessageId id : held) put(id);
}

std::size_t MessagePostings::grid_length(const Windows& windows) const {
  std::size_t length = 0;
  for_each_grid_key(windows, [&](std::size_t key) { length += 1 + grid_.length(key); });
  return length;
}

void MessagePostings::collect(const PostingLists& lists, std::size_t key, const Windows& windows,
                              std::vector<MessageId>& out) const {
  lists.scan(key, windows.view(), [&](MessageId id) {
    if (where_[raw(id)] != kGone) out.push_back(id);
  });
}

void MessagePostings::propose(const Clause& clause, std::span<const Rect> windows,
                              std::vector<MessageId>& out) const {
  constexpr std::size_t kWorthAsking = 256;  // below it the list of a keyword is cheap to scan
  constexpr std::size_t kTextCost = 8;       // a message that is only near has still to be read
  if (clause.positive.empty()) {
    propose_by_place(windows, out);
    return;
  }
  for (const Token token : clause.positive) points_.prefetch(raw(token));
  Token rarest = clause.positive[0];
  std::size_t least = ~std::size_t{0};
  for (const Token token : clause.positive) {
    if (points_.live(raw(token)) + boxes_.live(raw(token)) == 0) return;
    const std::size_t length = points_.length(raw(token)) + boxes_.length(raw(token));
    if (length < least) {
      least = length;
      rarest = token;
    }
  }
  if (least > kWorthAsking && kTextCost * grid_length(cells_of(windows)) < least) {
    propose_by_place(windows, out);
  } else {
    propose_by_token(rarest, windows, out);
  }
}

void MessagePostings::propose_by_token(Token token, std::span<const Rect> windows,
                                       std::vector<MessageId>& out) const {
  const Windows cells = cells_of(windows);
  collect(points_, raw(token), cells, out);
  collect(boxes_, raw(token), cells, out);
}

void MessagePostings::propose_by_place(std::span<const Rect> windows,
                                       std::vector<MessageId>& out) const {
  const Windows cells = cells_of(windows);
  for_each_grid_key(cells, [&](std::size_t key) { collect(grid_, key, cells, out); });
}

std::size_t MessagePostings::memory_bytes() const {
  return points_.memory_bytes() + boxes_.memory_bytes() + grid_.memory_bytes() +
         where_.memory_bytes();
}

void MessagePostings::check_list(const PostingLists& lists, std::size_t key) const {
  std::vector<MessageId> found;
  lists.for_each(key, [&](MessageId id, postings::Corner low) {
    if (where_[raw(id)] == low) found.push_back(id);
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (&lists != &grid_) {
    std::erase_if(found, [&](MessageId id) {
      const bool is_point = messages_.is_point(id);
      return !contains(messages_.tokens(id), Token{static_cast<std::uint32_t>(key)}) ||
             is_point != (&lists == &points_);
    });
  } else {
    std::erase_if(found,
                  [&](MessageId id) { return grid_key_of(cells_of(messages_.place(id))) != key; });
  }
  ensure(found.size() == lists.live(key), "message postings: a list has lost or gained a message");
}

void MessagePostings::check_invariants() const {
  for (const PostingLists* lists : {&points_, &boxes_, &grid_}) {
    for (std::size_t key = 0; key < lists->keys(); ++key) check_list(*lists, key);
  }
  std::size_t held = 0;
  for (std::size_t slot = 0; slot < where_.size(); ++slot) held += where_[slot] != kGone;
  ensure(held == count_, "message postings: the count is wrong");
}

}  // namespace nearcast
