// The areas of the subscriptions in view: asked for, a page at a time, when the map has come to rest,
// and painted a slice in each frame.

import { call } from "./api.js";
import { byId, debounced, number } from "./dom.js";
import { Painting } from "./painting.js";
import { boxOf, middleOf, partsOf } from "./shapes.js";
import { Stage } from "./stage.js";
import { colour, onTheme } from "./theme.js";

const PAGE = 1_000;
const MOST = 20_000;
const MANY = 180;
const FLASH_MS = 900;

export class Areas {
  constructor(map, session) {
    this.map = map;
    this.session = session;
    this.known = new Map();
    this.flashing = new Map();
    this.colours = {};
    this.turn = 0;
    this.painting = new Painting((context, view, areas) => this.paint(context, view, areas));
    this.stage = new Stage("areas", (context, view) => this.draw(context, view)).addTo(map);
    this.lookSoon = debounced(300, () => this.look());
    map.on("moveend", this.lookSoon);
    onTheme(() => {
      this.colours = { line: colour("--area"), fill: colour("--area-fill"), flash: colour("--flash") };
      this.painting.set(this.painting.things);
      this.stage.drawSoon();
    });
    this.look();
  }

  /** Ask what is in view. */
  async look() {
    if (!this.session.may("subscribe", "read")) return;
    const bounds = this.map.getBounds();
    const box = [
      Math.max(-180, bounds.getWest()), Math.max(-90, bounds.getSouth()),
      Math.min(180, bounds.getEast()), Math.min(90, bounds.getNorth()),
    ];
    this.turn += 1;
    try {
      await this.load(`v1/subscriptions?bbox=${box.join(",")}&limit=${PAGE}`, this.turn);
    } catch {
      // The next movement asks again; the state of the connection is shown elsewhere.
    }
  }

  /** Take in page after page, until there are enough or another question was asked. */
  async load(path, turn) {
    const known = new Map();
    let page = {};
    do {
      const from = page.next ? `&after=${encodeURIComponent(page.next)}` : "";
      page = await call("GET", path + from);
      if (turn !== this.turn) return;
      const isMore = known.size > 0;
      for (const one of page.subscriptions) known.set(keyOf(one.owner, one.id), seen(one));
      this.known = known;
      this.painting.set([...known.values()], isMore);
      this.stage.drawSoon();
    } while (page.next && known.size < MOST);
    byId("areas-note").hidden = !page.next;
    byId("areas-note").textContent = `The first ${number(known.size)} areas are shown: zoom in for all.`;
    document.body.dataset.areas = known.size;
  }

  find(owner, id) {
    return this.known.get(keyOf(owner, id));
  }

  /** Let an area light up: something has arrived there. */
  flash(area) {
    this.flashing.set(area, performance.now());
    this.stage.drawSoon();
  }

  /** The subscriptions whose box holds a point, smallest first. */
  around([lon, lat]) {
    const found = [];
    for (const area of this.known.values()) {
      const holds = area.parts.some((part) => {
        const [west, south, east, north] = part.bounds;
        return west <= lon && lon <= east && south <= lat && lat <= north;
      });
      if (holds) found.push(area);
    }
    return found.sort((a, b) => a.size - b.size);
  }

  draw(context, view) {
    const now = performance.now();
    const isMissing = this.painting.draw(context, view);
    if (isMissing) this.stage.drawSoon();
    for (const [area, since] of this.flashing) {
      const age = (now - since) / FLASH_MS;
      if (age >= 1) {
        this.flashing.delete(area);
        continue;
      }
      context.beginPath();
      trace(context, view, area.parts);
      context.globalAlpha = 1 - age;
      context.lineWidth = 2.5;
      context.strokeStyle = this.colours.flash;
      context.stroke();
      context.globalAlpha = 1;
    }
    if (this.flashing.size) this.stage.drawSoon();
  }

  paint(context, view, areas) {
    context.lineWidth = 1;
    context.strokeStyle = this.colours.line;
    context.fillStyle = this.colours.fill;
    context.beginPath();
    for (const area of areas) trace(context, view, area.parts);
    context.fill();
    context.globalAlpha = Math.max(0.15, Math.min(1, MANY / this.known.size)); // many would cover the map
    context.stroke();
    context.globalAlpha = 1;
  }
}

const keyOf = (owner, id) => `${owner}/${id}`;

function seen(one) {
  const parts = partsOf(one.area).map((part) => ({ ...part, bounds: boxOf(part) }));
  const size = parts.reduce((sum, { bounds: [w, s, e, n] }) => sum + (e - w) * (n - s), 0);
  return { ...one, parts, size, middle: middleOf(one.area) ?? one.at };
}

function trace(context, view, parts) {
  for (const part of parts) {
    const [west, south, east, north] = part.bounds;
    const [x, y] = [view.x(west), view.y(north)];
    const [right, bottom] = [view.x(east), view.y(south)];
    if (right < 0 || x > view.width || bottom < 0 || y > view.height) continue;
    if (right - x < 3 && bottom - y < 3) {
      context.rect(x, y, 2, 2); // too small to have a shape
    } else if (part.center) {
      const radius = part.radius_m * view.perMetre(part.center[1]);
      const [cx, cy] = [view.x(part.center[0]), view.y(part.center[1])];
      context.moveTo(cx + radius, cy);
      context.arc(cx, cy, radius, 0, 2 * Math.PI);
    } else if (part.box) {
      context.rect(x, y, right - x, bottom - y);
    } else {
      for (const ring of part.rings) {
        ring.forEach(([lon, lat], i) => (i ? context.lineTo(view.x(lon), view.y(lat)) : context.moveTo(view.x(lon), view.y(lat))));
        context.closePath();
      }
    }
  }
}
