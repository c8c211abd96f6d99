// Messages that appear and fade, deliveries on their way. Bounded: what is too much replaces the oldest.

import { isCalm } from "./dom.js";
import { Frames } from "./frames.js";
import { Stage } from "./stage.js";
import { colour, onTheme } from "./theme.js";

export const KINDS = ["flat", "job", "traffic", "weather", "event", "other"];
const MOST_MESSAGES = 2_000;
const MOST_DELIVERIES = 300;
const LIFE_MS = 20_000;
const TRAVEL_MS = 800;

export const kindOf = (published) => {
  const kind = published.attributes?.kind;
  return KINDS.includes(kind) ? kind : "other";
};

export function placeOf(published) {
  if (published.at) return published.at;
  const box = published.bbox;
  return box ? [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2] : null;
}

export class Sparks {
  constructor(map) {
    this.map = map;
    this.messages = [];
    this.deliveries = [];
    this.byId = new Map();
    this.marked = new Set();
    this.colours = {};
    this.frames = new Frames();
    this.stage = new Stage("sparks", (context, view) => this.draw(context, view)).addTo(map);
    onTheme(() => {
      this.colours = Object.fromEntries(KINDS.map((kind) => [kind, colour(`--kind-${kind}`)]));
      this.colours.flash = colour("--flash");
      this.colours.edge = colour("--card");
      this.colours.ring = colour("--text");
      this.stage.drawSoon();
    });
  }

  /** Show a message; `age` in milliseconds lets it be as faded as it is old. */
  add(published, age = 0) {
    const at = placeOf(published);
    if (!at) return;
    const spark = { published, at, kind: kindOf(published), born: performance.now() - age };
    this.messages.push(spark);
    this.byId.set(published.id, spark);
    if (this.messages.length > MOST_MESSAGES) this.forget(this.messages.length - MOST_MESSAGES);
    this.stage.drawSoon();
  }

  forget(count) {
    for (const spark of this.messages.splice(0, count)) {
      if (this.byId.get(spark.published.id) === spark) this.byId.delete(spark.published.id);
    }
  }

  /** Let a message go to a place; `arrived` is called when it is there. */
  deliver(from, to, arrived) {
    if (isCalm()) {
      arrived();
      return;
    }
    if (this.deliveries.length >= MOST_DELIVERIES) this.deliveries.shift();
    this.deliveries.push({ from, to, born: performance.now(), arrived });
    this.stage.drawSoon();
  }

  /** Draw rings around these messages: those that a draft would have matched. */
  mark(messages) {
    this.marked = new Set(messages);
    this.stage.drawSoon();
  }

  /** The messages drawn near a point on the screen, nearest first. */
  near(point, pixels = 10) {
    const found = [];
    for (const spark of this.messages) {
      const there = this.map.latLngToContainerPoint([spark.at[1], spark.at[0]]);
      const far = there.distanceTo(point);
      if (far <= pixels) found.push([far, spark.published]);
    }
    return found.sort((a, b) => a[0] - b[0]).map(([, published]) => published);
  }

  draw(context, view) {
    const now = performance.now();
    this.frames.note(now);
    const old = this.messages.findIndex((spark) => now - spark.born < LIFE_MS);
    if (old !== 0) this.forget(old < 0 ? this.messages.length : old);
    context.strokeStyle = this.colours.edge;
    context.lineWidth = 1;
    for (const spark of this.messages) this.drawMessage(context, view, spark, now);
    context.globalAlpha = 1;
    this.drawMarked(context, view);
    this.drawDeliveries(context, view, now);
    if (this.deliveries.length) this.stage.drawSoon();
    else if (this.messages.length) this.drawLater(now);
  }

  /** Young dots grow in every frame; when all are older, fading ten times a second is enough. */
  drawLater(now) {
    const isYoung = now - this.messages[this.messages.length - 1].born < 400;
    if (isYoung && !isCalm()) {
      this.stage.drawSoon();
    } else if (!this.timer) {
      this.timer = setTimeout(() => {
        this.timer = 0;
        this.stage.drawSoon();
      }, 100);
    }
  }

  drawMessage(context, view, spark, now) {
    const [x, y] = [view.x(spark.at[0]), view.y(spark.at[1])];
    if (x < -10 || y < -10 || x > view.width + 10 || y > view.height + 10) return;
    const age = (now - spark.born) / LIFE_MS;
    const birth = Math.min(1, (now - spark.born) / 350);
    context.globalAlpha = Math.max(0.08, 1 - age);
    context.fillStyle = this.colours[spark.kind];
    context.beginPath();
    context.arc(x, y, 5, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    if (birth < 1 && !isCalm()) {
      context.globalAlpha = 1 - birth;
      context.strokeStyle = this.colours[spark.kind];
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x, y, 5 + 14 * birth, 0, 2 * Math.PI);
      context.stroke();
      context.strokeStyle = this.colours.edge;
      context.lineWidth = 1;
    }
  }

  drawMarked(context, view) {
    context.strokeStyle = this.colours.ring;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const published of this.marked) {
      const at = placeOf(published);
      if (!at) continue;
      const [x, y] = [view.x(at[0]), view.y(at[1])];
      context.moveTo(x + 8, y);
      context.arc(x, y, 8, 0, 2 * Math.PI);
    }
    context.stroke();
  }

  drawDeliveries(context, view, now) {
    const done = [];
    context.strokeStyle = context.fillStyle = this.colours.flash;
    context.lineWidth = 2;
    for (const one of this.deliveries) {
      const share = Math.min(1, (now - one.born) / TRAVEL_MS);
      const eased = 1 - (1 - share) ** 3;
      const [fromX, fromY] = [view.x(one.from[0]), view.y(one.from[1])];
      const [toX, toY] = [view.x(one.to[0]), view.y(one.to[1])];
      const [x, y] = [fromX + (toX - fromX) * eased, fromY + (toY - fromY) * eased];
      context.globalAlpha = 0.9 - 0.5 * share;
      context.beginPath();
      context.moveTo(fromX, fromY);
      context.lineTo(x, y);
      context.stroke();
      context.beginPath();
      context.arc(x, y, 3, 0, 2 * Math.PI);
      context.fill();
      if (share === 1) done.push(one);
    }
    context.globalAlpha = 1;
    if (!done.length) return;
    this.deliveries = this.deliveries.filter((one) => !done.includes(one));
    for (const one of done) one.arrived();
  }
}
