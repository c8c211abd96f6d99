/// Random events, subscriptions and messages, with the memory that their views point to.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "nearcast/columns/columns.h"
#include "nearcast/life/event.h"

namespace nearcast::stress {

constexpr std::size_t kSubscriptions = 24;  ///< few, so that threads ask for the same ones

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return random_() % count; }
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  /// One of a few words, or a rare one, which is forgotten when what has it goes.
  std::string word() {
    return below(8) == 0 ? "rare" + std::to_string(below(100'000))
                         : "word" + std::to_string(below(60));
  }
  Rect box() {
    const double west = between(-10, 8), south = between(-10, 8);
    return {west, south, west + between(0.5, 8), south + between(0.5, 8)};
  }
  Point point() { return {between(-10, 10), between(-10, 10)}; }

 private:
  std::mt19937_64 random_;
};

/// Strings that stay where they are.
class Strings {
 public:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  std::vector<std::string_view> words(Dice& dice, std::size_t count) {
    std::vector<std::string_view> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(keep(dice.word()));
    return made;
  }

 private:
  std::deque<std::string> texts_;
};

/// Words in Arrow's form.
class WordMemory {
 public:
  void add(std::string_view word) {
    bytes_ += word;
    offsets_.push_back(static_cast<std::int64_t>(bytes_.size()));
  }
  WordColumn view() const { return {offsets_, bytes_}; }

 private:
  std::string bytes_;
  std::vector<std::int64_t> offsets_{0};
};

/// Messages as a table.
class MessageTable {
 public:
  MessageTable(Dice& dice, std::size_t rows) : rows_(rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      texts_.add(dice.word() + " " + dice.word() + " " + dice.word() + " " + dice.word());
      const Point at = dice.point();
      lon_.push_back(at.lon);
      lat_.push_back(at.lat);
    }
  }
  MessageColumns view() const { return {texts_.view(), {lon_, lat_, {}, {}}, rows_}; }

 private:
  std::size_t rows_;
  WordMemory texts_;
  std::vector<double> lon_, lat_;
};

/// Subscriptions as a table; each has two keywords and a box.
class SubscriptionTable {
 public:
  SubscriptionTable(Dice& dice, const std::string& prefix, std::size_t rows) : rows_(rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      ids_.add(prefix + std::to_string(row));
      keywords_.add(dice.word());
      keywords_.add(dice.word());
      ends_.push_back(2 * static_cast<std::int64_t>(row + 1));
      const Rect box = dice.box();
      west_.push_back(box.west);
      south_.push_back(box.south);
      east_.push_back(box.east);
      north_.push_back(box.north);
      shares_.push_back(0.5);
    }
  }
  IdColumn ids() const { return ids_.view(); }
  WordLists keywords() const { return {ends_, keywords_.view()}; }
  PlaceColumns areas() const { return {west_, south_, east_, north_}; }
  std::span<const double> shares() const { return shares_; }
  std::size_t rows() const { return rows_; }

 private:
  std::size_t rows_;
  WordMemory ids_, keywords_;
  std::vector<std::int64_t> ends_{0};
  std::vector<double> west_, south_, east_, north_, shares_;
};

inline Event random_subscribe(Dice& dice, Strings& strings) {
  Event event;
  event.op = Op::kSubscribe;
  event.mode = static_cast<ModeId>(dice.below(3));
  event.is_live = event.mode != ModeId::kTop && dice.below(2) == 0;
  event.wanted = strings.words(dice, 1 + dice.below(2));
  if (event.mode == ModeId::kMatch && dice.below(3) == 0) {
    ExpressionNode either;
    either.op = ExpressionOp::kPhrase;
    either.words = strings.words(dice, 2);
    event.keywords.nodes.push_back(either);
  }
  if (dice.below(3) == 0) {
    ExpressionNode cheap;
    cheap.op = ExpressionOp::kCompare;
    cheap.comparison = Comparison::kAtMost;
    cheap.values.push_back({"price", ValueKind::kNumber, static_cast<double>(dice.below(5)), {}});
    event.where.nodes.push_back(cheap);
  }
  event.alpha = 0.5;
  event.threshold = 0.3;
  event.k = 3;
  if (event.mode == ModeId::kTop) {
    event.at = dice.point();
  } else {
    event.area = dice.box();
  }
  return event;
}

/// Any event; ids are few, so many are rejected and many concern the same subscription.
inline Event random_event(Dice& dice, Strings& strings) {
  Event event;
  const std::size_t kind = dice.below(10);
  if (kind < 3) {
    event = random_subscribe(dice, strings);
  } else if (kind == 3) {
    event.op = Op::kUnsubscribe;
  } else if (kind == 4) {
    event.op = Op::kMove;
    if (dice.below(3) == 0) {
      event.at = dice.point();
    } else {
      event.area = dice.box();
    }
  } else if (kind == 5) {
    event.op = Op::kRetract;
  } else {
    event.op = Op::kPublish;
    event.words = strings.words(dice, 4);
    event.attributes.push_back(
        {"price", ValueKind::kNumber, static_cast<double>(dice.below(5)), {}});
    event.place = Place::at(dice.point());
  }
  event.replaces = dice.below(3) == 0;
  const bool is_message = event.op == Op::kPublish || event.op == Op::kRetract;
  event.id = strings.keep((is_message ? "message with a long name " : "subscription number ") +
                          std::to_string(dice.below(is_message ? 400 : kSubscriptions)));
  return event;
}

}  // namespace nearcast::stress
