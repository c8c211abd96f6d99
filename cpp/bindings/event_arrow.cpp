/// Tables of events (nearcast/event_table.py): rows in, rows out.
#include <cmath>
#include <cstring>

#include "bindings/arrow_buffers.h"
#include "bindings/arrow_import.h"
#include "bindings/columns.h"
#include "bindings/event_batch.h"
#include "bindings/table_out.h"
#include "nearcast/model/subscription_store.h"
#include "nearcast/model/top_score.h"
#include "nearcast/text/utf8.h"

namespace nearcast {
namespace {

constexpr ErrorKind kKind = ErrorKind::kInvalidParameter;

// ---- in -------------------------------------------------------------------------------------

/// A column of strings that may be missing, as may its values.
class Words {
 public:
  Words(const ArrowTable& table, const char* name, OwnedColumns& owned) {
    if (!table.has(name)) return;
    const ArrowCells cells = table.column(name);
    words_ = words_of(cells, owned);
    check_text(cells, words_);
    nulls_ = nulls_of(cells);
    is_there_ = true;
  }
  bool has(std::size_t row) const { return is_there_ && !nulls_[row]; }
  std::string_view operator[](std::size_t row) const {
    return has(row) ? words_[row] : std::string_view();
  }

 private:
  WordColumn words_;
  NullMap nulls_;
  bool is_there_ = false;
};

/// A column of numbers that may be missing; NaN: there is no value.
class Numbers {
 public:
  Numbers(const ArrowTable& table, const char* name, OwnedColumns& owned) {
    if (table.has(name)) numbers_ = numbers_of(table.column(name), owned);
  }
  double operator[](std::size_t row) const {
    return numbers_.empty() ? EventRow::kNotGiven : numbers_[row];
  }

 private:
  std::span<const double> numbers_;
};

/// A column of truth values that may be missing; null is false.
class Truths {
 public:
  Truths(const ArrowTable& table, const char* name, OwnedColumns& owned) {
    if (!table.has(name)) return;
    const ArrowCells cells = table.column(name);
    if (std::string_view(cells.schema->format) != "b" || cells.schema->dictionary != nullptr)
      refuse_type(cells, "bool");
    if (cells.rows == 0) return;
    nulls_ = nulls_of(cells);
    start_ = static_cast<std::size_t>(cells.start);
    bits_ = buffer_of<std::uint8_t>(cells, 1, 0, (start_ + cells.size() + 7) / 8, owned);
  }
  bool operator[](std::size_t row) const {
    const std::size_t bit = start_ + row;
    return !bits_.empty() && !nulls_[row] && (bits_[bit / 8] >> (bit % 8) & 1) != 0;
  }

 private:
  std::span<const std::uint8_t> bits_;
  NullMap nulls_;
  std::size_t start_ = 0;
};

std::span<const std::int64_t> event_numbers(const ArrowTable& table, OwnedColumns& owned) {
  if (!table.has("event")) return {};
  const ArrowCells cells = table.column("event");
  const ArrowType type = type_of(*cells.schema);
  if (!is_integer(type) || type == ArrowType::kUint64 || cells.schema->dictionary != nullptr)
    refuse_type(cells, "int64");
  refuse_nulls(cells);
  return whole_numbers_of(cells, type, owned);
}

/// The position of a word among names; -1: it is none of them.
template <std::size_t kCount>
int position_in(const std::array<const char*, kCount>& names, std::string_view word) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] != nullptr && word == names[i]) return static_cast<int>(i);
  }
  return -1;
}

constexpr std::array<const char*, kModes> kModeNames{"match", "rank", "top"};

bool is_moment(double time) {
  return std::isnan(time) || (std::isfinite(time) && time < kTimeLimit);
}

bool is_point(const Rect& box) {
  return is_box(box) && box.west == box.east && box.south == box.north;
}

/// Words with single spaces between them.
bool read_words(std::string_view text, std::vector<std::string_view>& words) {
  while (true) {
    const std::size_t space = text.find(' ');
    words.push_back(text.substr(0, space));
    if (words.back().empty() || words.size() > SubscriptionStore::kMaxTokens) return false;
    if (space == std::string_view::npos) return true;
    text.remove_prefix(space + 1);
  }
}

/// One Arrow batch of events.
struct EventCells {
  Words op, id, text, attributes, mode, target, line, surplus, words, said;
  Numbers time, expires, west, south, east, north, alpha, threshold, k;
  Truths replaces, is_live;
  std::span<const std::int64_t> numbers;

  EventCells(const ArrowTable& table, OwnedColumns& owned)
      : op(table, "op", owned),
        id(table, "id", owned),
        text(table, "text", owned),
        attributes(table, "attributes", owned),
        mode(table, "mode", owned),
        target(table, "target", owned),
        line(table, "line", owned),
        surplus(table, "surplus", owned),
        words(table, "words", owned),
        said(table, "said", owned),
        time(table, "time", owned),
        expires(table, "expires", owned),
        west(table, "west", owned),
        south(table, "south", owned),
        east(table, "east", owned),
        north(table, "north", owned),
        alpha(table, "alpha", owned),
        threshold(table, "threshold", owned),
        k(table, "k", owned),
        replaces(table, "replace", owned),
        is_live(table, "live", owned),
        numbers(event_numbers(table, owned)) {}

  /// What life looks at. False: something is not right.
  bool read_outline(std::size_t at, EventRow& row, EventTable& to) const {
    const int code = position_in(kOpNames, op[at]);
    if (code < 0) return false;
    row.op = static_cast<Op>(code);
    row.time = time[at];
    row.expires = expires[at];
    row.replaces = replaces[at];
    row.is_live = is_live[at];
    row.id = to.keep(id[at]);
    row.surplus = to.keep(surplus[at]);
    row.line = to.keep(line[at]);
    row.box = {west[at], south[at], east[at], north[at]};
    // A message may have no end: then something else says when it goes.
    const bool is_endless = row.op == Op::kPublish && std::isinf(row.expires) && row.expires > 0;
    if (!is_moment(row.time) || !(is_endless || is_moment(row.expires))) return false;
    if (row.op == Op::kAdvance) return !std::isnan(row.time);
    if (row.id.size == 0) return false;
    if (mode.has(at)) {
      const int own = position_in(kModeNames, mode[at]);
      if (own < 0) return false;
      row.mode = static_cast<ModeId>(own);
    }
    if (target.has(at)) {
      const int own = position_in(kTargetNames, target[at]);
      if (own < 0) return false;
      row.target = static_cast<Target>(own);
    }
    if (row.op == Op::kSubscribe) return mode.has(at);
    return row.op != Op::kMove || row.target != Target::kNone;
  }

  /// What is wanted of a subscription. False: something is not right.
  bool read_subscription(std::size_t at, std::size_t place, EventTable& to) const {
    EventRow& row = to[place];
    row.alpha = alpha[at];
    row.threshold = threshold[at];
    row.has_area = row.mode != ModeId::kTop && !std::isnan(row.box.west);
    std::vector<std::string_view> wanted;
    if (words.has(at) && !read_words(words[at], wanted)) return false;
    if (row.has_area && !is_box(row.box)) return false;
    const bool has_alpha = row.alpha >= 0 && row.alpha <= 1;
    if (row.mode == ModeId::kMatch && wanted.empty() && !row.has_area) return false;
    if (row.mode == ModeId::kRank && (wanted.empty() || !row.has_area || !has_alpha ||
                                      !(row.threshold > 0 && row.threshold <= 1)))
      return false;
    if (row.mode == ModeId::kTop) {
      const bool is_k = k[at] >= 1 && k[at] <= kMaxK && k[at] == std::floor(k[at]);
      if (wanted.empty() || !has_alpha || !is_k || row.is_live || !is_point(row.box)) return false;
      row.k = static_cast<std::uint32_t>(k[at]);
    }
    to.put_words(place, wanted);
    row.said = to.keep(said[at]);
    row.is_defined = true;
    return true;
  }

  /// The whole event. False: something is not right, or the line has to be read.
  bool read(std::size_t at, std::size_t place, EventTable& to) const {
    EventRow& row = to[place];
    if (!read_outline(at, row, to)) return false;
    switch (row.op) {
      case Op::kSubscribe:
        return row.line.size == 0 && read_subscription(at, place, to);
      case Op::kPublish:
        return text.has(at) && is_box(row.box);
      case Op::kMove:
        if (row.target == Target::kPoint) return is_point(row.box);
        return row.target == Target::kBox && is_box(row.box);
      default:
        return true;
    }
  }
};

}  // namespace

nb::list EventBatch::add_table(nb::handle given, nb::handle first, bool is_outline) {
  std::int64_t number = 0;
  if (!nb::try_cast(first, number, /*convert=*/false)) refuse_argument("first", first, "an int64");
  EventTable& all = table();
  const std::size_t start = all.size();
  nb::list left;
  ArrowBatches batches(given, "events", kKind);
  while (const auto batch = batches.next()) {
    const ArrowTable arrow(**batches.schema(), **batch, kKind);
    arrow.refuse_others({"event", "op",     "id",      "time", "expires", "replace",
                         "text",  "west",   "south",   "east", "north",   "attributes",
                         "mode",  "live",   "words",   "said", "alpha",   "threshold",
                         "k",     "target", "surplus", "line"});
    arrow.column("op");  // the one that must be there
    OwnedColumns owned;
    const EventCells cells(arrow, owned);
    for (std::size_t at = 0; at < arrow.rows(); ++at, ++number) {
      const std::size_t row = all.add(cells.numbers.empty() ? number : cells.numbers[at]);
      EventRow& own = all[row];
      const bool is_taken =
          is_outline ? cells.read_outline(at, own, all) : cells.read(at, row, all);
      own.is_out = !is_taken;
      if (!is_taken) left.append(row);
      if (is_outline || !is_taken || own.op != Op::kPublish) continue;
      put_text(cells.text[at], is_ascii(cells.text[at]), row);
      if (!cells.attributes.has(at)) continue;
      own.attribute_text = all.keep(cells.attributes[at]);
      with_attributes_.push_back(row);
    }
  }
  from_tables_.insert(from_tables_.end(), {start, all.size()});
  return left;
}

// ---- out ------------------------------------------------------------------------------------

AnswerOut EventBatch::columns() const {
  const EventTable& all = *table_;
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < all.size(); ++row) {
    if (!all[row].is_out) rows.push_back(row);
  }
  TableOut out(rows.size());
  const auto words = [&](const char* name, auto&& word_of) {
    WordsOut column;
    std::vector<std::uint8_t> are_there;
    are_there.reserve(rows.size());
    for (const std::size_t row : rows) {
      const std::optional<std::string_view> word = word_of(all[row]);
      column.push_back(word.value_or(std::string_view()));
      are_there.push_back(word.has_value());
    }
    out.add_words(name, std::move(column), std::move(are_there));
  };
  const auto numbers = [&](const char* name, auto&& number_of) {
    std::vector<double> column;
    column.reserve(rows.size());
    for (const std::size_t row : rows) column.push_back(number_of(all[row]));
    out.add_numbers(name, std::move(column));
  };
  const auto truths = [&](const char* name, auto&& truth_of) {
    std::vector<std::uint8_t> column;
    column.reserve(rows.size());
    for (const std::size_t row : rows) column.push_back(truth_of(all[row]));
    out.add_truths(name, std::move(column));
  };
  using Word = std::optional<std::string_view>;
  const auto slice = [&](EventRow::Slice at) { return at.size == 0 ? Word() : Word(all.text(at)); };
  const auto side = [&](const char* name, double Rect::* of) {
    numbers(name, [&, of](const EventRow& row) {
      const bool has = row.op == Op::kPublish || row.target == Target::kPoint ||
                       row.target == Target::kBox || row.has_area ||
                       (row.is_defined && row.mode == ModeId::kTop);
      return has ? row.box.*of : EventRow::kNotGiven;
    });
  };
  std::vector<std::int64_t> known;
  known.reserve(rows.size());
  for (const std::size_t row : rows) known.push_back(all[row].number);
  out.add_whole("event", std::move(known));
  words("op", [](const EventRow& row) { return Word(kOpNames[static_cast<int>(row.op)]); });
  words("id", [&](const EventRow& row) { return slice(row.id); });
  numbers("time", [](const EventRow& row) { return row.time; });
  numbers("expires", [](const EventRow& row) { return row.expires; });
  truths("replace", [](const EventRow& row) {
    const bool may = row.op == Op::kPublish || row.op == Op::kSubscribe;
    return may ? static_cast<std::uint8_t>(row.replaces) : TableOut::kNull;
  });
  words("text", [&](const EventRow& row) {
    return row.op == Op::kPublish ? Word(all.text(row.text)) : Word();
  });
  side("west", &Rect::west);
  side("south", &Rect::south);
  side("east", &Rect::east);
  side("north", &Rect::north);
  words("attributes", [&](const EventRow& row) { return slice(row.attribute_text); });
  words("mode", [](const EventRow& row) {
    return row.op == Op::kSubscribe ? Word(name_of(row.mode)) : Word();
  });
  truths("live", [](const EventRow& row) {
    return row.op == Op::kSubscribe ? static_cast<std::uint8_t>(row.is_live) : TableOut::kNull;
  });
  words("words", [&, joined = std::string()](const EventRow& row) mutable {
    if (!row.is_defined || row.words == 0) return Word();
    all.join_words(row, joined);
    return Word(joined);
  });
  words("said", [&](const EventRow& row) { return slice(row.said); });
  numbers("alpha", [](const EventRow& row) { return row.alpha; });
  numbers("threshold", [](const EventRow& row) { return row.threshold; });
  numbers("k", [](const EventRow& row) { return row.k == 0 ? EventRow::kNotGiven : row.k; });
  words("target", [](const EventRow& row) {
    return row.target == Target::kNone ? Word() : Word(kTargetNames[static_cast<int>(row.target)]);
  });
  words("surplus", [&](const EventRow& row) { return slice(row.surplus); });
  words("line", [&](const EventRow& row) { return slice(row.line); });
  return std::move(out).answer();
}

}  // namespace nearcast
