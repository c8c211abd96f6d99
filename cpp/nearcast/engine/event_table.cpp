#include "nearcast/engine/event_table.h"

#include <cmath>
#include <utility>

#include "nearcast/base/errors.h"
#include "nearcast/text/splitter.h"
#include "nearcast/text/text_tokens.h"

namespace nearcast {
namespace {

std::optional<double> given(double time) {
  return std::isnan(time) ? std::nullopt : std::optional(time);
}

std::uint32_t position(std::size_t count) {
  if (count >= std::numeric_limits<std::uint32_t>::max())
    too_large("events of one table", std::to_string(count) + " words or attributes",
              "less than 2^32");
  return static_cast<std::uint32_t>(count);
}

}  // namespace

std::size_t EventTable::add(std::int64_t number) {
  rows_.emplace_back().number = number;
  return rows_.size() - 1;
}

EventRow::Slice EventTable::keep(std::string_view bytes) {
  const EventRow::Slice at{bytes_.size(), bytes.size()};
  bytes_ += bytes;
  return at;
}

void EventTable::put_words(std::size_t row, std::span<const std::string_view> words) {
  EventRow& own = rows_[row];
  own.first_word =
      position(words_.size() + words.size()) - static_cast<std::uint32_t>(words.size());
  own.words = static_cast<std::uint32_t>(words.size());
  own.is_analysed = true;
  for (const std::string_view word : words)
    words_.push_back(is_gap(word) ? EventRow::Slice{kGap, 0} : keep(word));
}

void EventTable::join_words(const EventRow& row, std::string& joined) const {
  joined.clear();
  for (std::uint32_t i = 0; i < row.words; ++i) {
    if (i > 0) joined += ' ';
    joined += word(row.first_word + i);
  }
}

void EventTable::put_attributes(std::size_t row, std::span<const Attribute> attributes) {
  EventRow& own = rows_[row];
  own.first_attribute = position(attributes_.size() + attributes.size()) -
                        static_cast<std::uint32_t>(attributes.size());
  own.attributes = static_cast<std::uint32_t>(attributes.size());
  for (const Attribute& each : attributes) {
    const EventRow::Slice name = keep(each.name);
    attributes_.push_back({name, keep(each.text), each.number, each.kind});
  }
}

void EventTable::put_made(std::size_t row, Event&& event) {
  made_.push_back(std::move(event));
  rows_[row].made = position(made_.size());
  rows_[row].is_out = false;
}

bool EventTable::is_whole(std::size_t row) const {
  const EventRow& own = rows_[row];
  if (own.made != 0) return true;
  if (own.op == Op::kSubscribe) return own.is_defined;
  return own.op != Op::kMove || own.target == Target::kPoint || own.target == Target::kBox;
}

bool EventTable::has_time(std::size_t row) const {
  const EventRow& own = rows_[row];
  return own.made == 0 ? !std::isnan(own.time) : made_[own.made - 1].time.has_value();
}

void EventTable::put_time(std::size_t row, double time) {
  rows_[row].time = time;
  if (rows_[row].made != 0) made_[rows_[row].made - 1].time = time;
}

void EventTable::settle() {
  for (const EventRow& row : rows_) {
    if (row.made != 0) made_[row.made - 1].surplus = text(row.surplus);
  }
}

std::vector<std::int64_t> EventTable::numbers() const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(rows_.size());
  for (const EventRow& row : rows_) numbers.push_back(row.number);
  return numbers;
}

void EventTable::read_outline(std::size_t row, Event& event) const {
  const EventRow& own = rows_[row];
  event.op = own.op;
  event.id = text(own.id);
  event.time = given(own.time);
  event.expires = given(own.expires);
  event.replaces = own.replaces;
  event.surplus = text(own.surplus);
  event.mode = own.mode;
  event.said = {};
  event.at.reset();
  event.area.reset();
  if (own.target == Target::kPoint) event.at = Point{own.box.west, own.box.south};
  if (own.target == Target::kBox) event.area = own.box;
  if (own.target == Target::kOtherArea) event.area = Anywhere{};
}

void EventTable::read_subscription(const EventRow& own, Event& event) const {
  event.is_live = own.is_live;
  event.said = text(own.said);
  event.wanted.clear();
  for (std::uint32_t i = 0; i < own.words; ++i) event.wanted.push_back(word(own.first_word + i));
  if (own.mode == ModeId::kTop) {
    event.at = Point{own.box.west, own.box.south};
  } else {
    event.area = own.has_area ? Area(own.box) : Area(Anywhere{});
  }
  event.k = own.k;
  event.alpha = own.alpha;
  event.threshold = own.threshold;
}

void EventTable::read_message(const EventRow& own, Scratch& scratch) const {
  Event& event = scratch.event;
  event.place = Place::box(own.box);
  event.words.clear();
  if (!own.is_analysed) {
    split_words(text(own.text), scratch.letters,
                [&](std::string_view each) { event.words.push_back(each); });
  }
  for (std::uint32_t i = 0; i < own.words; ++i) event.words.push_back(word(own.first_word + i));
  event.attributes.clear();
  for (std::uint32_t i = 0; i < own.attributes; ++i) {
    const StoredAttribute& each = attributes_[own.first_attribute + i];
    event.attributes.push_back({text(each.name), each.kind, each.number, text(each.text)});
  }
}

const Event& EventTable::read(std::size_t row, Scratch& scratch) const {
  const EventRow& own = rows_[row];
  if (own.made != 0) return made_[own.made - 1];
  read_outline(row, scratch.event);
  if (own.op == Op::kPublish) read_message(own, scratch);
  if (own.op == Op::kSubscribe) read_subscription(own, scratch.event);
  return scratch.event;
}

}  // namespace nearcast
