// Subscriptions that `auto` files by ranges of numbers: the axis of an attribute, and matching
// before, when and after its cells are chosen anew.
#include <limits>
#include <memory>
#include <random>

#include "nearcast/index/ours/sized_lists/range_lists.h"
#include "nearcast/modes/match_set.h"
#include "tests/unit/check.h"

namespace nearcast::unit {
namespace {

using sized_lists::NumberAxes;

const Test kMonotone("cells of numbers have the order of the numbers, with any number of ticks",
                     [] {
                       std::mt19937_64 random(3);
                       std::uniform_real_distribution<double> draw(-1e4, 1e4);
                       constexpr double kInfinite = std::numeric_limits<double>::infinity();
                       for (const std::size_t count :
                            {std::size_t{0}, std::size_t{1}, std::size_t{2}, NumberAxes::kTicks - 1,
                             NumberAxes::kTicks, NumberAxes::kTicks + 1, 10 * NumberAxes::kTicks}) {
                         NumberAxes axes;
                         const Token name{7};
                         std::vector<double> ends;
                         for (std::size_t i = 0; i < count; ++i)
                           ends.push_back(i % 5 == 0 ? double(random() % 9) : draw(random));
                         std::vector<double> numbers = ends;
                         for (int i = 0; i < 2000; ++i) numbers.push_back(draw(random));
                         for (const double odd :
                              {-kInfinite, -1e308, -5e-324, -0.0, 0.0, 1e-9, 1e308, kInfinite})
                           numbers.push_back(odd);
                         axes.fit(name, ends);
                         std::sort(numbers.begin(), numbers.end());
                         for (std::size_t i = 1; i < numbers.size(); ++i)
                           check(axes.cell(name, numbers[i - 1]) <= axes.cell(name, numbers[i]));
                         check(axes.cell(name, kInfinite) <= sized_lists::kLastCell);
                         check(axes.cell(name, -0.0) == axes.cell(name, 0.0));
                       }
                     });

const Test kFinds("ticks tell numbers apart that leading bits do not", [] {
  NumberAxes axes;
  std::vector<double> ends;
  for (int i = 0; i < 1000; ++i) ends.push_back(1000 + i / 1000.0);
  check(axes.cell(Token{1}, 1000.2) == axes.cell(Token{1}, 1000.7));
  axes.fit(Token{1}, ends);
  check(axes.cell(Token{1}, 1000.7) - axes.cell(Token{1}, 1000.2) > 20'000);
});

/// Subscriptions that want a word, perhaps an area, and a price or a size in a range.
struct Market {
  Vocabulary words;
  TermRegistry terms;
  MatchSet set{"auto", {}, words, terms};
  std::mt19937_64 random{11};
  struct Wanted {
    SubscriptionId id;
    bool has_word, is_east;
    std::string_view name;
    double low, high;
  };
  std::vector<Wanted> all;

  double draw() { return double(random() % 1000); }

  static ExpressionNode bound(std::string_view name, Comparison comparison, double value) {
    ExpressionNode node;
    node.op = ExpressionOp::kCompare;
    node.comparison = comparison;
    node.values.push_back({name, ValueKind::kNumber, value, {}});
    return node;
  }

  void subscribe() {
    Wanted wanted{
        {}, random() % 4 != 0, random() % 4 == 0, random() % 3 == 0 ? "size" : "price", draw(), 0};
    wanted.high = wanted.low + double(random() % 20);
    Expression where{{bound(wanted.name, Comparison::kAtLeast, wanted.low),
                      bound(wanted.name, Comparison::kAtMost, wanted.high)}};
    ExpressionNode both;
    both.op = ExpressionOp::kAnd;
    both.parts = 2;
    where.nodes.push_back(both);
    const std::string_view flat = "flat";
    Wish wish;
    if (wanted.has_word) wish.plain = {&flat, 1};
    wish.where = &where;
    wanted.id =
        set.add(wish, wanted.is_east ? Area(Rect{0, -90, 180, 90}) : Area(Anywhere{}), nullptr);
    all.push_back(wanted);
  }

  void unsubscribe() {
    const std::size_t at = random() % all.size();
    set.remove(all[at].id);
    all[at] = all.back();
    all.pop_back();
  }

  /// What the set says about messages is what a look at each subscription says. Returns how many
  /// entries were looked at for a message.
  std::size_t compare() {
    set.check_invariants();
    BatchScratch scratch;
    for (int i = 0; i < 20; ++i) {
      const bool has_word = random() % 3 != 0, has_price = random() % 4 != 0;
      const bool is_east = random() % 2 == 0;
      const double price = draw(), size = draw();
      const std::string_view flat = "flat";
      std::vector<Attribute> attributes{{"size", ValueKind::kNumber, size, {}}};
      if (has_price) attributes.push_back({"price", ValueKind::kNumber, price, {}});
      const Saying saying{{&flat, has_word ? 1u : 0u}, attributes};
      const Token token = words.find(flat);
      std::vector<Token> tokens;
      if (has_word && token != kUnknownToken) tokens.push_back(token);
      set.match({tokens, Place::at({is_east ? 9.0 : -9.0, 0}), {&saying, nullptr}}, scratch);
      std::vector<SubscriptionId> found(scratch.sink.ids().begin(), scratch.sink.ids().end());
      std::vector<SubscriptionId> expected;
      for (const Wanted& wanted : all) {
        const bool is_size = wanted.name == "size";
        const double number = is_size ? size : price;
        if ((is_size || has_price) && (has_word || !wanted.has_word) &&
            (is_east || !wanted.is_east) && wanted.low <= number && number <= wanted.high)
          expected.push_back(wanted.id);
      }
      std::sort(found.begin(), found.end());
      std::sort(expected.begin(), expected.end());
      check(found == expected);
    }
    return scratch.sink.work.candidates / 20;
  }
};

const Test kOneByOne("ranges that come and go one by one are found before and after each fit", [] {
  const auto market = std::make_unique<Market>();
  for (int count = 1; count <= 900; ++count) {
    market->subscribe();
    const bool is_near_a_fit = count < 140 || (count > 740 && count < 810);
    if (is_near_a_fit || count % 50 == 0) market->compare();
  }
  while (market->all.size() > 3) {
    market->unsubscribe();
    if (market->all.size() % 100 == 0) market->compare();
  }
  market->compare();
});

const Test kThousands("thousands of ranges under one word are not looked at one by one", [] {
  const auto market = std::make_unique<Market>();
  for (int count = 1; count <= 13'000; ++count) {
    market->subscribe();
    if (count > 12'000 && count % 200 == 0) market->compare();
  }
  check(market->compare() < 2500);
  for (int i = 0; i < 12'500; ++i) market->unsubscribe();
  market->compare();
});

const Test kMarksStay("lists of ranges are found and dropped past what a mark counts", [] {
  using sized_lists::RangeLists;
  constexpr std::uint32_t kLists = 600, kApart = 4096;
  RangeLists ranges;
  sized_lists::NumberedLists entries(64);
  for (std::uint32_t i = 0; i < kLists; ++i) {
    const RangeLists::Filed filed{i * kApart, Token{3}, {{}, sized_lists::kAsk, EntryId{i}}};
    ranges.add(filed, entries);
    check(ranges.may_have(0) && !ranges.may_have(1));
    check(ranges.find(i * kApart, Token{3}) != nullptr);
    check(ranges.find(i * kApart, Token{4}) == nullptr);
  }
  for (std::uint32_t i = 0; i < kLists; ++i) {
    const RangeLists::Filed filed{i * kApart, Token{3}, {{}, sized_lists::kAsk, EntryId{i}}};
    check(ranges.remove(filed, entries) && !ranges.remove(filed, entries));
    check(ranges.find(i * kApart, Token{3}) == nullptr);
  }
  check(ranges.empty());
});

}  // namespace
}  // namespace nearcast::unit
