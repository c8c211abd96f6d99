// Drawing on the map: a box or a circle by dragging, a polygon or a route by clicking corners. With the
// keyboard, areas are typed, or taken from what the map shows.

import { byId } from "./dom.js";
import { metresBetween, rounded } from "./shapes.js";

const { L } = window;
const HINTS = {
  box: "Drag from one corner to the other.",
  circle: "Drag from the middle outwards.",
  polygon: "Click the corners; Finish, Enter or a double click closes it.",
  route: "Click the way; Finish, Enter or a double click ends it.",
};
const LEAST_PIXELS = 4;

export class Drawing {
  constructor(map) {
    this.map = map;
    this.ended = null;
    byId("tool-cancel").addEventListener("click", () => this.end());
    byId("tool-finish").addEventListener("click", () => this.finish());
    document.addEventListener("keydown", (event) => {
      if (!this.tool) return;
      if (event.key === "Escape") this.end();
      if (event.key === "Enter" && this.corners) {
        event.preventDefault();
        this.finish();
      }
    });
  }

  get isActive() {
    return Boolean(this.tool);
  }

  /** Begin; `done` gets the area as the service says it, or the points of a route. */
  begin(tool, done) {
    this.end();
    this.tool = tool;
    this.done = done;
    byId("tool-hint").textContent = HINTS[tool];
    byId("tool-bar").hidden = false;
    byId("tool-finish").hidden = tool === "box" || tool === "circle";
    this.map.getContainer().classList.add("drawing");
    this.abort = new AbortController();
    if (tool === "box" || tool === "circle") this.listenForDrag(tool);
    else this.listenForClicks(tool);
  }

  end() {
    if (!this.tool) return;
    this.abort.abort();
    this.map.dragging.enable();
    this.map.off("click", this.onClick, this).off("dblclick", this.finish, this);
    this.shape?.remove();
    this.shape = this.corners = this.tool = null;
    byId("tool-bar").hidden = true;
    this.map.getContainer().classList.remove("drawing");
  }

  listenForDrag(tool) {
    const container = this.map.getContainer();
    const { signal } = this.abort;
    let start = null;
    this.map.dragging.disable();
    const at = (event) => this.map.mouseEventToLatLng(event);
    container.addEventListener("pointerdown", (event) => {
      if (event.target.closest(".leaflet-control")) return;
      event.preventDefault();
      event.stopPropagation();
      container.setPointerCapture(event.pointerId);
      start = { place: at(event), x: event.clientX, y: event.clientY };
    }, { signal, capture: true });
    container.addEventListener("pointermove", (event) => {
      if (start) this.show(areaBetween(tool, start.place, at(event)));
    }, { signal });
    container.addEventListener("pointerup", (event) => {
      if (!start) return;
      const far = Math.hypot(event.clientX - start.x, event.clientY - start.y);
      const area = areaBetween(tool, start.place, at(event));
      start = null;
      if (far >= LEAST_PIXELS) this.finish(area);
    }, { signal });
  }

  listenForClicks() {
    this.corners = [];
    this.map.on("click", this.onClick, this).on("dblclick", this.finish, this);
  }

  onClick(event) {
    this.corners.push([rounded(event.latlng.lng), rounded(event.latlng.lat)]);
    this.shape?.remove();
    this.shape = L.polyline(this.corners.map(([lon, lat]) => [lat, lon]), { className: "draft-shape" });
    this.shape.addTo(this.map);
  }

  show(area) {
    this.shape?.remove();
    this.shape = Array.isArray(area)
      ? L.rectangle([[area[1], area[0]], [area[3], area[2]]], { className: "draft-shape" })
      : L.circle([area.center[1], area.center[0]], { radius: area.radius_m, className: "draft-shape" });
    this.shape.addTo(this.map);
  }

  /** Hand over what was drawn, if it is something. */
  finish(given) {
    const { tool, corners, done } = this;
    let area = given;
    if (corners) {
      const points = corners.filter((one, i) => i === 0 || String(one) !== String(corners[i - 1]));
      if (points.length < (tool === "route" ? 2 : 3)) return;
      area = tool === "route" ? points : { type: "Polygon", coordinates: [[...points, points[0]]] };
    }
    this.end();
    done(area);
  }
}

function areaBetween(tool, a, b) {
  if (tool === "circle") {
    const radius = metresBetween([a.lng, a.lat], [b.lng, b.lat]);
    return { type: "Circle", center: [rounded(a.lng), rounded(a.lat)], radius_m: Math.round(radius) };
  }
  return [
    rounded(Math.min(a.lng, b.lng)), rounded(Math.min(a.lat, b.lat)),
    rounded(Math.max(a.lng, b.lng)), rounded(Math.max(a.lat, b.lat)),
  ];
}
