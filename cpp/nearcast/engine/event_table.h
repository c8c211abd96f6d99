/// Events as rows of one table: read and checked once, then applied without Python.
///
/// A message, a subscription of plain words and a box, a retraction, a move to a point or a box and
/// an advance of time are wholly in their row. What is rare (other subscriptions, a move to another
/// shape) is made elsewhere and put into the table as an event, or stays a line that is read where
/// it is applied.
///
/// A row is left out until it is put: so rows keep their order while some of them take longer to
/// read.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearcast/life/event.h"

namespace nearcast {

/// What a move leads to; of other events kNone.
enum class Target : std::uint8_t { kNone, kPoint, kBox, kOtherArea };
constexpr int kTargets = 4;

struct EventRow {
  /// Where something is among the bytes of the table.
  struct Slice {
    std::uint64_t at = 0, size = 0;
  };
  static constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();

  std::int64_t number = 0;  ///< what users call the event
  double time = kNotGiven, expires = kNotGiven;
  Rect box;  ///< of a publish, a subscription, or a move to a point or a box; a point has no size
  double alpha = kNotGiven, threshold = kNotGiven;  ///< of a subscription, as k
  Slice id, text, surplus;
  Slice said;            ///< of a subscription: what was said, if its words do not tell it
  Slice attribute_text;  ///< attributes that are not read yet, as JSON
  Slice line;            ///< the whole event, where the row does not have all of it
  std::uint32_t first_word = 0, words = 0;  ///< of a subscription, or of a text analysed elsewhere
  std::uint32_t first_attribute = 0, attributes = 0;  ///< of a publish
  std::uint32_t made = 0;                             ///< 0: none, otherwise its position + 1
  std::uint32_t k = 0;
  Op op = Op::kAdvance;
  ModeId mode = ModeId::kMatch;   ///< of a subscribe
  Target target = Target::kNone;  ///< of a move
  bool replaces = false, is_live = false;
  bool has_area = false;     ///< of a subscription: `box` is its area
  bool is_defined = false;   ///< of a subscription: the row has all of it
  bool is_analysed = false;  ///< `words` are its words; otherwise the text is ASCII and split here
  bool is_out = true;        ///< left out
};

class EventTable {
 public:
  /// Memory for one event, kept from row to row.
  struct Scratch {
    Event event;
    std::string letters;
  };

  std::size_t size() const { return rows_.size(); }
  EventRow& operator[](std::size_t row) { return rows_[row]; }
  const EventRow& operator[](std::size_t row) const { return rows_[row]; }
  std::size_t add(std::int64_t number);  ///< a row that is left out
  void cut(std::size_t rows) { rows_.resize(rows); }

  EventRow::Slice keep(std::string_view bytes);
  std::string_view text(EventRow::Slice at) const { return {bytes_.data() + at.at, at.size}; }
  /// The words of a text; a gap (text/text_tokens.h) is the place of one that was left out.
  void put_words(std::size_t row, std::span<const std::string_view> words);
  /// The words of a row with single spaces between them.
  void join_words(const EventRow& row, std::string& joined) const;
  void put_attributes(std::size_t row, std::span<const Attribute> attributes);
  /// An event that no row can hold. What it views must outlive the table.
  void put_made(std::size_t row, Event&& event);
  /// Whether a row has all that a hub needs.
  bool is_whole(std::size_t row) const;
  bool has_time(std::size_t row) const;
  void put_time(std::size_t row, double time);
  /// Nothing is put any more: events that were made may now view the table.
  void settle();

  std::vector<std::int64_t> numbers() const;
  /// The event in this row, as far as life looks at it.
  void read_outline(std::size_t row, Event& event) const;
  /// The event in this row. It views the table and the scratch.
  const Event& read(std::size_t row, Scratch& scratch) const;

 private:
  void read_subscription(const EventRow& own, Event& event) const;
  void read_message(const EventRow& own, Scratch& scratch) const;
  std::string_view word(std::uint32_t at) const {
    return words_[at].at == kGap ? std::string_view() : text(words_[at]);
  }

  struct StoredAttribute {
    EventRow::Slice name, text;
    double number;
    ValueKind kind;
  };
  static constexpr std::uint64_t kGap = std::numeric_limits<std::uint64_t>::max();

  std::vector<EventRow> rows_;
  std::string bytes_;
  std::vector<EventRow::Slice> words_;
  std::vector<StoredAttribute> attributes_;
  std::deque<Event> made_;
};

}  // namespace nearcast
