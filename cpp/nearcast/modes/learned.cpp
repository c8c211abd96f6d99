#include "nearcast/modes/learned.h"

#include <cmath>

#include "nearcast/base/array.h"

namespace nearcast {
namespace {

constexpr const char* kSample = "the messages that were learned from";

/// A place as it was given: west > east if it crosses the antimeridian.
struct SavedPlace {
  Rect box;
  std::uint64_t is_point;
};

SavedPlace saved(const Place& place) {
  const Rect& first = place.part[0];
  const double east = place.parts == 2 ? place.part[1].east : first.east;
  return {{first.west, first.south, east, first.north}, place.is_point ? 1u : 0u};
}

bool is_sound(const SavedPlace& place) {
  const auto& [west, south, east, north] = place.box;
  const bool is_inside = std::fabs(west) <= 180 && std::fabs(east) <= 180 &&
                         std::fabs(south) <= 90 && std::fabs(north) <= 90;  // false for NaN
  if (place.is_point > 1 || !is_inside) return false;
  return place.is_point == 1 ? west == east && south == north : south <= north;
}

}  // namespace

void save_sample(const MessageSample& sample, ArchiveWriter& out) {
  Array<SavedPlace> places;
  Array<std::uint64_t> ends;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    places.push_back(saved(sample.places[i]));
    ends.push_back(sample.offsets[i + 1]);
  }
  out.blob(sample.tokens.data(), sample.tokens.size() * sizeof(Token), sizeof(Token));
  ends.save(out);
  places.save(out);
}

MessageSample load_sample(ArchiveReader& in) {
  Array<Token> tokens;
  Array<std::uint64_t> ends;
  Array<SavedPlace> places;
  tokens.load(in);
  ends.load(in);
  places.load(in);
  expect(ends.size() == places.size() && (ends.empty() ? 0 : ends.back()) == tokens.size(),
         kSample);
  MessageSample sample;
  sample.tokens.assign(tokens.begin(), tokens.end());
  sample.offsets.push_back(0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    expect(ends[i] >= sample.offsets.back() && ends[i] <= tokens.size() && is_sound(places[i]),
           kSample);
    sample.offsets.push_back(ends[i]);
    const Rect& box = places[i].box;
    sample.places.push_back(places[i].is_point != 0 ? Place::at({box.west, box.south})
                                                    : Place::box(box));
  }
  return sample;
}

void check_sample(const MessageSample& sample, std::size_t tokens) {
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const TokenSpan own = sample.tokens_of(i);
    for (std::size_t k = 0; k < own.size(); ++k) {
      expect(raw(own[k]) < tokens && (k == 0 || own[k - 1] < own[k]), kSample);
    }
  }
}

}  // namespace nearcast
