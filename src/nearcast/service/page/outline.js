// One area of one's own on the map: it can be dragged, or moved with the arrow keys at its handle.

import { middleOf, partsOf, shifted } from "./shapes.js";

const { L } = window;
const STEP_PIXELS = 12;

export class Outline {
  /** `onMove(area)` is called when a drag has ended; without it the area stays where it is. */
  constructor(map, { name, className = "own-area", onMove = null }) {
    this.map = map;
    this.name = name;
    this.className = className;
    this.onMove = onMove;
    this.group = L.layerGroup().addTo(map);
    this.area = null;
  }

  show(area) {
    this.area = area;
    this.group.clearLayers();
    for (const part of partsOf(area)) this.addPart(part);
    const middle = middleOf(area);
    if (this.onMove && middle) this.addHandle(middle);
  }

  remove() {
    this.group.remove();
  }

  flash() {
    this.group.eachLayer((layer) => {
      const element = layer.getElement?.();
      element?.classList.remove("arrived");
      element?.getBoundingClientRect(); // so that the animation starts again
      element?.classList.add("arrived");
    });
  }

  fit() {
    const bounds = L.latLngBounds([]);
    this.group.eachLayer((layer) => bounds.extend(layer.getBounds?.() ?? layer.getLatLng()));
    if (bounds.isValid()) this.map.fitBounds(bounds.pad(0.5), { maxZoom: 14, animate: false });
  }

  addPart(part) {
    const options = { className: this.className, interactive: Boolean(this.onMove), bubblingMouseEvents: false };
    const shape = part.center
      ? L.circle([part.center[1], part.center[0]], { ...options, radius: part.radius_m })
      : L.polygon(ringsOf(part), options);
    shape.addTo(this.group);
    const element = shape.getElement();
    if (this.onMove && element) this.listenForDrag(element);
  }

  listenForDrag(element) {
    element.addEventListener("pointerdown", (down) => {
      if (this.map.getContainer().classList.contains("drawing")) return;
      down.stopPropagation();
      this.map.dragging.disable();
      const start = this.map.mouseEventToLatLng(down);
      const before = this.area;
      const end = new AbortController();
      let now = before;
      const follow = (event) => {
        const at = this.map.mouseEventToLatLng(event);
        now = shifted(before, at.lng - start.lng, at.lat - start.lat);
        this.show(now);
      };
      const stop = () => {
        end.abort();
        this.map.dragging.enable();
        if (now !== before) this.onMove(now);
      };
      window.addEventListener("pointermove", follow, { signal: end.signal });
      window.addEventListener("pointerup", stop, { signal: end.signal });
      window.addEventListener("pointercancel", stop, { signal: end.signal });
    });
  }

  addHandle([lon, lat]) {
    const icon = L.divIcon({ className: "handle", iconSize: [18, 18] });
    const handle = L.marker([lat, lon], { icon, keyboard: true, alt: `Move ${this.name}`, title: `Move ${this.name}: drag it, or use the arrow keys`, draggable: true });
    handle.addTo(this.group);
    const element = handle.getElement();
    element.setAttribute("aria-label", `Move ${this.name} with the arrow keys`);
    handle.on("dragend", () => {
      const at = handle.getLatLng();
      this.moveBy(at.lng - lon, at.lat - lat);
    });
    element.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!way) return;
      event.preventDefault();
      event.stopPropagation();
      const from = this.map.latLngToContainerPoint([lat, lon]);
      const to = this.map.containerPointToLatLng(from.add([way[0] * STEP_PIXELS, way[1] * STEP_PIXELS]));
      this.moveBy(to.lng - lon, to.lat - lat);
      this.group.eachLayer((layer) => layer instanceof L.Marker && layer.getElement().focus());
    });
  }

  moveBy(lon, lat) {
    this.show(shifted(this.area, lon, lat));
    this.onMove(this.area);
  }
}

function ringsOf(part) {
  if (part.rings) return part.rings.map((ring) => ring.map(([lon, lat]) => [lat, lon]));
  const [west, south, east, north] = part.box;
  return [[[south, west], [south, east], [north, east], [north, west]]];
}
