#include "bindings/columns.h"

namespace nearcast {

Area area_from(nb::handle area) {
  if (area.is_none()) return Anywhere{};
  const auto parts = nb::cast<nb::tuple>(area);
  const auto number = [&](std::size_t i) { return nb::cast<double>(parts[i]); };
  if (parts.size() == 4) return Rect{number(0), number(1), number(2), number(3)};
  if (!nb::isinstance<nb::list>(parts[0])) return Circle{{number(0), number(1)}, number(2)};
  PolygonArea polygon;
  for (const nb::handle point : nb::cast<nb::list>(parts[0])) {
    const auto pair = nb::cast<nb::tuple>(point);
    polygon.points.push_back({nb::cast<double>(pair[0]), nb::cast<double>(pair[1])});
  }
  polygon.ring_ends = nb::cast<std::vector<std::uint32_t>>(parts[1]);
  polygon.polygon_ends = nb::cast<std::vector<std::uint32_t>>(parts[2]);
  return polygon;
}

nb::object area_to_python(const Area& area) {
  if (const auto* box = std::get_if<Rect>(&area))
    return nb::make_tuple(box->west, box->south, box->east, box->north);
  if (const auto* circle = std::get_if<Circle>(&area)) {
    return nb::make_tuple(circle->center.lon, circle->center.lat, circle->radius_m);
  }
  if (std::holds_alternative<Anywhere>(area)) return nb::none();
  const auto& polygon = std::get<PolygonArea>(area);
  nb::list points;
  for (const Point p : polygon.points) points.append(nb::make_tuple(p.lon, p.lat));
  return nb::make_tuple(points, nb::cast(polygon.ring_ends), nb::cast(polygon.polygon_ends));
}

Place place_from(const nb::tuple& place) {
  const auto number = [&](std::size_t i) { return nb::cast<double>(place[i]); };
  if (place.size() == 2) return Place::at({number(0), number(1)});
  return Place::box({number(0), number(1), number(2), number(3)});
}

std::vector<std::string_view> words_from_list(nb::handle words) {
  std::vector<std::string_view> views;
  for (const nb::handle word : nb::cast<nb::list>(words))
    views.push_back(nb::cast<std::string_view>(word));
  return views;
}

std::vector<WordClause> clauses_from(nb::handle clauses) {
  std::vector<WordClause> made;
  for (const nb::handle clause : nb::cast<nb::list>(clauses)) {
    const auto parts = nb::cast<nb::tuple>(clause);
    made.push_back({words_from_list(parts[0]), words_from_list(parts[1])});
  }
  return made;
}

}  // namespace nearcast
