#include "nearcast/index/papers/mbr_trie/number_line.h"

#include <algorithm>
#include <string>

#include "nearcast/base/list_room.h"

namespace nearcast {

void NumberLine::resize(std::size_t size) {
  if (size > list_limit) too_large("numbers of mbr-trie", std::to_string(size), "fewer than 2^32");
  note_list_growth(size, size / 2);  // a line that is full grows by a quarter
  const std::size_t before = seats_.size();
  seats_.resize(size);
  for (std::size_t i = before; i < size; ++i) seats_[i] = kFreeSeat;
}

void NumberLine::start(std::size_t count, double spare) {
  seats_.clear();
  resize(count + static_cast<std::size_t>(static_cast<double>(count) * spare));
  live_ = marked_ = appended_ = 0;
  expected_ = count;
}

Number NumberLine::append(const Seat& newcomer) {
  const std::size_t number = appended_++ * seats_.size() / expected_;
  return sit(static_cast<Number>(number), newcomer);
}

Number NumberLine::sit(Number number, const Seat& seat) {
  seats_[number] = seat;
  ++live_;
  return number;
}

Number NumberLine::take_any(const Seat& newcomer) {
  moves_.clear();
  if (seats_.empty()) resize(kSmallestStretch);
  return sit(static_cast<Number>(seats_.size() / 2), newcomer);
}

Number NumberLine::take_before(Number next, const Seat& newcomer) {
  moves_.clear();
  // In the middle of the gap, if it is short; a long one need not be measured.
  Number begin = next;
  while (begin > 0 && next - begin < kSmallestStretch && is_free(begin - 1)) --begin;
  if (begin < next) return sit(begin + (next - begin) / 2, newcomer);
  return squeeze_in(next, newcomer);
}

Number NumberLine::take_after(Number previous, const Seat& newcomer) {
  moves_.clear();
  Number end = previous + 1;
  while (end < size() && end - previous < kSmallestStretch && is_free(end)) ++end;
  if (end > previous + 1) return sit(previous + 1 + (end - previous - 1) / 2, newcomer);
  return squeeze_in(previous + 1, newcomer);
}

/// Make room between the seats boundary - 1 and boundary, both taken.
Number NumberLine::squeeze_in(Number boundary, const Seat& newcomer) {
  const Number anchor = boundary == size() ? boundary - 1 : boundary;
  double crowded = 1.0;
  for (std::size_t length = kSmallestStretch; length < size(); length *= 2) {
    const std::size_t begin = anchor / length * length, end = std::min(begin + length, size());
    std::size_t taken = 1;
    for (std::size_t i = begin; i < end; ++i) taken += !is_free(static_cast<Number>(i));
    if (static_cast<double>(taken) <= crowded * static_cast<double>(end - begin)) {
      return spread(static_cast<Number>(begin), static_cast<Number>(end), boundary, newcomer);
    }
    crowded = std::max(kMostCrowded, crowded - 0.01);
  }
  const std::size_t all = live_ + marked_ + 1;
  if (static_cast<double>(all) > kMostCrowded * static_cast<double>(size())) {
    resize(static_cast<std::size_t>(static_cast<double>(all) * (1 + kLeastSpare)) +
           kSmallestStretch);
  }
  return spread(0, static_cast<Number>(size()), boundary, newcomer);
}

/// Spread the entries in [begin, end) and the new one, which belongs before the seat `boundary`.
Number NumberLine::spread(Number begin, Number end, Number boundary, const Seat& newcomer) {
  std::vector<Seat> row;
  std::size_t newcomer_at = 0;
  for (Number i = begin; i <= end; ++i) {
    if (i == boundary) {
      newcomer_at = row.size();
      row.push_back(newcomer);
    }
    if (i == end || is_free(i)) continue;
    row.push_back(seats_[i]);
    moves_.push_back({i, 0});
    seats_[i] = kFreeSeat;
  }
  const std::size_t length = end - begin, count = row.size();
  Number taken = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const Number number = begin + static_cast<Number>((2 * k + 1) * length / (2 * count));
    seats_[number] = row[k];
    if (k == newcomer_at) {
      taken = number;
    } else {
      moves_[k - (k > newcomer_at ? 1 : 0)].to = number;
    }
  }
  std::erase_if(moves_, [](const Move& move) { return move.from == move.to; });
  ++live_;
  return taken;
}

void NumberLine::mark(Number number) {
  seats_[number].entry = kNoEntry;
  --live_;
  ++marked_;
}

void NumberLine::check_invariants() const {
  std::size_t live = 0, marked = 0;
  for (Number i = 0; i < size(); ++i) {
    ensure(!is_free(i) || !is_live(i), "number line: an entry sits on a free seat");
    live += is_live(i);
    marked += !is_free(i) && !is_live(i);
  }
  ensure(live == live_, "number line: counts more or fewer entries than it has");
  ensure(marked == marked_, "number line: counts more or fewer marks than it has");
}

}  // namespace nearcast
