// Areas as the service says them: a box, a Circle, GeoJSON of polygons, or a list of such areas.

export const METRES_PER_DEGREE = (Math.PI / 180) * 6_371_008.8;

/** The simple parts of an area: {box}, {center, radius_m} or {rings}. */
export function partsOf(area) {
  if (!area) return [];
  if (Array.isArray(area)) {
    return typeof area[0] === "number" ? boxParts(area) : area.flatMap(partsOf);
  }
  switch (area.type) {
    case "Circle": return [{ center: area.center, radius_m: area.radius_m }];
    case "Polygon": return [{ rings: area.coordinates }];
    case "MultiPolygon": return area.coordinates.map((rings) => ({ rings }));
    case "Feature": return partsOf(area.geometry);
    case "FeatureCollection": return area.features.flatMap(partsOf);
    case "GeometryCollection": return area.geometries.flatMap(partsOf);
    default: return [];
  }
}

function boxParts([west, south, east, north]) {
  if (west <= east) return [{ box: [west, south, east, north] }];
  return [{ box: [west, south, 180, north] }, { box: [-180, south, east, north] }];
}

/** The box around a part. */
export function boxOf(part) {
  if (part.box) return part.box;
  if (part.rings) {
    const lons = part.rings[0].map((point) => point[0]);
    const lats = part.rings[0].map((point) => point[1]);
    return [Math.min(...lons), Math.min(...lats), Math.max(...lons), Math.max(...lats)];
  }
  const [lon, lat] = part.center;
  const high = part.radius_m / METRES_PER_DEGREE;
  const wide = high / Math.max(0.01, Math.cos((lat * Math.PI) / 180));
  return [lon - wide, lat - high, lon + wide, lat + high];
}

/** The middle of an area's first part, [lon, lat]; null without area. */
export function middleOf(area) {
  const [part] = partsOf(area);
  if (!part) return null;
  if (part.center) return part.center;
  const [west, south, east, north] = boxOf(part);
  return [(west + east) / 2, (south + north) / 2];
}

/** The same area somewhere else; it stays within the numbers that coordinates can have. */
export function shifted(area, lon, lat) {
  const move = ([x, y]) => [rounded(clamp(x + lon, 180)), rounded(clamp(y + lat, 90))];
  const walk = (points) => (typeof points[0] === "number" ? move(points) : points.map(walk));
  if (Array.isArray(area) && typeof area[0] === "number") {
    return [...move(area.slice(0, 2)), ...move(area.slice(2))];
  }
  if (Array.isArray(area)) return area.map((one) => shifted(one, lon, lat));
  if (area.type === "Circle") return { ...area, center: move(area.center) };
  if (area.type === "Feature") return { ...area, geometry: shifted(area.geometry, lon, lat) };
  if (area.features) return { ...area, features: area.features.map((one) => shifted(one, lon, lat)) };
  if (area.geometries) return { ...area, geometries: area.geometries.map((one) => shifted(one, lon, lat)) };
  return { ...area, coordinates: walk(area.coordinates) };
}

const clamp = (value, most) => Math.max(-most, Math.min(most, value));

export const rounded = (value) => Math.round(value * 1e5) / 1e5;

/** Metres along a great circle. */
export function metresBetween([lonA, latA], [lonB, latB]) {
  const radians = Math.PI / 180;
  const half = Math.sin(((latB - latA) * radians) / 2) ** 2
    + Math.cos(latA * radians) * Math.cos(latB * radians) * Math.sin(((lonB - lonA) * radians) / 2) ** 2;
  return 2 * 6_371_008.8 * Math.asin(Math.sqrt(Math.min(1, half)));
}

/** An area in a few words. */
export function inWords(area) {
  const parts = partsOf(area);
  if (!parts.length) return "anywhere";
  if (parts.length > 1) return `${parts.length} areas`;
  const [part] = parts;
  const [lon, lat] = middleOf(area);
  const place = `${lat.toFixed(2)}, ${lon.toFixed(2)}`;
  if (part.center) return `${(part.radius_m / 1000).toFixed(1)} km around ${place}`;
  return part.box ? `box around ${place}` : `polygon around ${place}`;
}
