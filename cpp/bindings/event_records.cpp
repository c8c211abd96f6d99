#include "bindings/event_records.h"

#include "bindings/columns.h"
#include "bindings/expressions.h"
#include "nearcast/model/top_score.h"

namespace nearcast {
namespace {

std::optional<Point> point_or_none(nb::handle value) {
  return value.is_none() ? std::nullopt : std::optional(point_from(value, "at"));
}

/// (where, except, said): an expression or None, an area or None, a string or None.
void read_wishes(nb::handle given, Event& event) {
  if (given.is_none()) return;
  const nb::tuple parts = tuple_from(given, "wishes of a subscription", 3);
  if (!parts[0].is_none()) event.where = expression_from(parts[0], "where");
  if (!parts[1].is_none()) {
    if (event.mode != ModeId::kMatch) refuse_argument("except", parts[1], "None");
    event.excluded = area_from(parts[1]);
  }
  if (!parts[2].is_none()) event.said = word_from(parts[2], "said");
}

void read_mode(const nb::tuple& parts, Event& event) {
  if (parts[6].is_none()) {
    event.area = area_from(parts[5]);
    return;
  }
  const nb::tuple details = tuple_from(parts[6], "details of a subscription", 6);
  event.mode = static_cast<ModeId>(whole_from(details[0], "mode", 0, kModes - 1));
  event.is_live = truth_from(details[1], "live");
  if (event.mode == ModeId::kMatch) {
    event.area = area_from(parts[5]);
    return;
  }
  if (event.wanted.empty() || !event.keywords.empty())
    refuse_argument("keywords of a rank or top subscription", parts[4], "a list of words");
  event.alpha = number_from(details[3], "alpha", 0, 1);
  if (event.mode == ModeId::kRank) {
    event.threshold = number_from(details[4], "threshold", std::numeric_limits<double>::min(), 1);
    event.area = box_from(parts[5], "area");
    return;
  }
  event.k = static_cast<std::uint32_t>(whole_from(details[2], "k", 1, kMaxK));
  event.at = point_from(details[5], "at");
}

void read_subscription(const nb::tuple& parts, Event& event) {
  keywords_from(parts[4], event.wanted, event.keywords);
  read_mode(parts, event);
  read_wishes(parts[8], event);
}

}  // namespace

std::optional<double> moment_from(nb::handle value, const char* name) {
  return value.is_none() ? std::nullopt : std::optional(number_from(value, name));
}

Event event_from(nb::handle record) {
  const nb::tuple parts = tuple_from(record, "event", 9);
  Event event;
  event.op = static_cast<Op>(whole_from(parts[0], "op", 0, kOps - 1));
  event.id = word_from(parts[1], "id");
  event.time = moment_from(parts[2], "time");
  event.expires = moment_from(parts[3], "expires");
  event.replaces = truth_from(parts[7], "replaces");
  if (event.op == Op::kSubscribe) read_subscription(parts, event);
  if (event.op == Op::kMove) {
    if (!parts[5].is_none()) event.area = area_from(parts[5]);
    event.at = point_or_none(parts[6]);
  }
  if (event.op == Op::kPublish) {
    event.words = text_from_list(parts[4]);
    event.place = place_from(parts[5]);
    event.attributes = attributes_from(parts[8]);
  }
  return event;
}

}  // namespace nearcast
