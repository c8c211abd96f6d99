// The map: land and borders from a bundled file, or tiles where the settings name a server.

import { mercatorX, mercatorY, Stage } from "./stage.js";
import { colour, onTheme } from "./theme.js";

const { L } = window;

/** Make the map; `settings.tiles` is the address of a tile server, or null. */
export async function makeMap(settings) {
  const map = L.map("map", {
    center: [...(settings.center ?? [10, 30])].reverse(),
    zoom: settings.center ? 10 : 3,
    minZoom: 2,
    maxZoom: 18,
    zoomAnimation: false,
    fadeAnimation: false,
    markerZoomAnimation: false,
    worldCopyJump: true,
    attributionControl: Boolean(settings.tiles),
    doubleClickZoom: false,
  });
  map.createPane("base").style.zIndex = 150;
  map.createPane("areas").style.zIndex = 350;
  map.createPane("sparks").style.zIndex = 450;
  for (const name of ["base", "areas", "sparks"]) map.getPane(name).style.pointerEvents = "none";
  new ResizeObserver(() => map.invalidateSize({ pan: false })).observe(map.getContainer());
  L.control.scale({ imperial: false }).addTo(map);
  const world = await (await fetch("page/outlines.json")).json();
  if (settings.tiles) L.tileLayer(settings.tiles, { attribution: settings.attribution ?? "" }).addTo(map);
  else addOutlines(map, world);
  return { map, cities: world.cities };
}

function addOutlines(map, world) {
  const land = world.land.map(unpacked);
  const borders = world.borders.map(unpacked);
  let colours = {};
  const stage = new Stage("base", (context, view) => {
    context.fillStyle = colours.sea;
    context.fillRect(0, 0, view.width, view.height);
    drawLines(context, view, land, { fill: colours.land, stroke: colours.coast, closed: true });
    drawLines(context, view, borders, { stroke: colours.border, dash: [4, 4] });
    drawGrid(context, view, map, colours.grid);
    drawCities(context, view, world.cities, colours.place, map.getZoom());
  });
  stage.addTo(map);
  onTheme(() => {
    colours = {
      sea: colour("--sea"), land: colour("--land"), coast: colour("--coast"),
      border: colour("--border-line"), grid: colour("--grid"), place: colour("--place"),
    };
    stage.drawSoon();
  });
}

/** Steps in hundredths of a degree become coordinates of the projected world, with the box around them. */
function unpacked(steps) {
  const points = new Float64Array(steps.length);
  let [lon, lat] = [0, 0];
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < steps.length; i += 2) {
    lon += steps[i];
    lat += steps[i + 1];
    const [x, y] = [mercatorX(lon / 100), mercatorY(lat / 100)];
    points[i] = x;
    points[i + 1] = y;
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  }
  return { points, box };
}

function drawLines(context, view, lines, { fill, stroke, dash = [], closed = false }) {
  const { world, left, top, width, height } = view;
  context.beginPath();
  for (let copy = -1; copy <= 1; copy += 1) {
    for (const { points, box } of lines) {
      const shift = copy * world - left;
      if (box[2] * world + shift < 0 || box[0] * world + shift > width) continue;
      if (box[3] * world - top < 0 || box[1] * world - top > height) continue;
      context.moveTo(points[0] * world + shift, points[1] * world - top);
      for (let i = 2; i < points.length; i += 2) {
        context.lineTo(points[i] * world + shift, points[i + 1] * world - top);
      }
      if (closed) context.closePath();
    }
  }
  if (fill) {
    context.fillStyle = fill;
    context.fill("evenodd");
  }
  context.setLineDash(dash);
  context.strokeStyle = stroke;
  context.lineWidth = 1;
  context.stroke();
  context.setLineDash([]);
}

/** Lines of longitude and latitude: where the outlines are too coarse, they still show movement. */
function drawGrid(context, view, map, style) {
  const bounds = map.getBounds();
  const span = bounds.getEast() - bounds.getWest();
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30].find((one) => span / one < 14) ?? 30;
  context.beginPath();
  for (let lon = Math.ceil(bounds.getWest() / step) * step; lon < bounds.getEast(); lon += step) {
    const x = Math.round(view.x(lon)) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, view.height);
  }
  for (let lat = Math.ceil(bounds.getSouth() / step) * step; lat < bounds.getNorth(); lat += step) {
    const y = Math.round(view.y(lat)) + 0.5;
    context.moveTo(0, y);
    context.lineTo(view.width, y);
  }
  context.strokeStyle = style;
  context.lineWidth = 1;
  context.stroke();
}

function drawCities(context, view, cities, style, zoom) {
  context.fillStyle = style;
  context.font = `${zoom > 7 ? 600 : 400} ${zoom > 7 ? 15 : 11}px system-ui, sans-serif`;
  context.textAlign = "center";
  const taken = [];
  for (const [name, lon, lat] of cities) {
    const [x, y] = [view.x(lon), view.y(lat)];
    if (x < -80 || x > view.width + 80 || y < 0 || y > view.height + 20) continue;
    const half = context.measureText(name).width / 2 + 6;
    if (taken.some((one) => Math.abs(one.x - x) < one.half + half && Math.abs(one.y - y) < 16)) continue;
    taken.push({ x, y, half });
    context.fillText(name, x, y - 7);
    context.beginPath();
    context.arc(x, y, 2, 0, 7);
    context.fill();
  }
}
