// What happens right now: everybody's messages and deliveries, as far as the key may see them.

import { follow } from "./api.js";
import { attributesOf, byId, keepFirst, make, number, timeOf } from "./dom.js";
import { kindOf, KINDS, placeOf } from "./sparks.js";

const { L } = window;
const MOST_CARDS = 30;
const MOST_PER_FRAME = 200;
const LIST_MS = 400;

export class Watch {
  constructor({ map, areas, sparks, session, drawing }) {
    Object.assign(this, { map, areas, sparks, session });
    this.waiting = [];
    this.cards = [];
    this.isAsked = false;
    this.messageCount = new Rate();
    this.deliveryCount = new Rate();
    this.began = performance.now();
    this.seen = 0;
    this.addLegend();
    map.on("click", (event) => {
      if (!drawing.isActive && !byId("watch").hidden) this.tell(event);
    });
    setInterval(() => this.showCards(), LIST_MS);
    setInterval(() => this.showRates(), 1_000);
  }

  start(signal, tell) {
    follow("v1/feed", (_, line) => this.take(line), tell, signal);
  }

  /** Keep lines until the next frame: however many come, each frame does a bounded amount. */
  take(line) {
    this.waiting.push(line);
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => this.work());
  }

  work() {
    const now = Date.now() / 1000;
    for (const line of this.waiting.splice(0, MOST_PER_FRAME)) {
      if (line.type === "message") this.takeMessage(line.published, now);
      else if (line.type === "skipped") this.messageCount.add(line.count);
      else if (line.change) this.takeChange(line);
    }
    this.isAsked = this.waiting.length > 0;
    if (this.isAsked) requestAnimationFrame(() => this.work());
    if (this.waiting.length > 2_000) this.waiting.splice(0, this.waiting.length - 2_000);
  }

  takeMessage(published, now) {
    const age = published.time ? Math.max(0, now - published.time) : 0;
    if (age < 3) this.messageCount.add(1); // older ones were sent to begin with
    if (age > 20) return;
    this.seen += 1;
    this.sparks.add(published, age * 1_000);
    this.cards.push({ published, receivers: [], time: published.time ?? now });
    if (this.cards.length > MOST_CARDS) this.cards.splice(0, this.cards.length - MOST_CARDS);
  }

  takeChange(line) {
    this.deliveryCount.add(1);
    if (line.change === "removed") return;
    if (line.published && !this.sparks.byId.has(line.message)) this.takeMessage(line.published, Date.now() / 1000);
    const card = this.cards.findLast((one) => one.published.id === line.message);
    const area = this.areas.find(line.owner, line.subscription);
    if (card && card.receivers.length < 50) card.receivers.push({ owner: line.owner, area });
    const spark = this.sparks.byId.get(line.message);
    if (area?.middle && spark) {
      this.sparks.deliver(spark.at, area.middle, () => this.areas.flash(area));
    }
  }

  showCards() {
    if (!this.cards.length || byId("pause-watch").checked || byId("watch").hidden) return;
    const list = byId("watch-list");
    for (const card of this.cards.splice(0)) list.prepend(this.cardOf(card));
    keepFirst(list, MOST_CARDS);
  }

  cardOf({ published, receivers, time }) {
    const known = receivers.find((one) => one.area);
    const why = known ? `, for example “${inShort(known.area)}”` : "";
    const reached = receivers.length ? `reached ${number(receivers.length)} saved ${receivers.length === 1 ? "search" : "searches"}${why}` : "reached no saved search";
    return make("li", { class: `kind-${kindOf(published)}` },
      make("p", {}, published.text, make("small", {}, ` ${attributesOf(published)}`)),
      make("p", { class: "meta" }, make("time", {}, timeOf(time)), ` ${reached}`));
  }

  showRates() {
    byId("count-messages").textContent = number(this.messageCount.perMinute());
    byId("count-deliveries").textContent = number(this.deliveryCount.perMinute());
    document.body.dataset.frames = JSON.stringify({ ...this.sparks.frames.figures, messages: this.seen });
  }

  addLegend() {
    const names = { flat: "flats", job: "jobs", traffic: "traffic", weather: "weather", event: "events", other: "other" };
    byId("legend").append(...KINDS.map((kind) => make("li", { class: `kind-${kind}` }, names[kind])));
  }

  /** Say what is where one clicked. */
  tell(event) {
    const messages = this.sparks.near(event.containerPoint).slice(0, 3);
    const around = this.areas.around([event.latlng.lng, event.latlng.lat]);
    if (!messages.length && !around.length) return;
    const items = [
      ...messages.map((one) => make("li", { class: `kind-${kindOf(one)}` }, one.text, make("small", {}, ` ${attributesOf(one)}`))),
      ...around.slice(0, 4).map((one) => make("li", {}, `saved search: ${inShort(one)}`)),
    ];
    if (around.length > 4) items.push(make("li", {}, `and ${around.length - 4} more here`));
    const place = messages.length ? placeOf(messages[0]) : null;
    const at = place ? [place[1], place[0]] : event.latlng;
    L.popup({ maxWidth: 280 }).setLatLng(at).setContent(make("ul", { class: "told" }, ...items)).openOn(this.map);
  }
}

/** A subscription's wish in a few words. */
export function inShort(subscription) {
  const { keywords, where } = subscription;
  const words = Array.isArray(keywords) ? keywords.join(" ") : keywords;
  return [words, where].filter(Boolean).join(" where ") || "everything";
}

/** Counts per minute, over the last ten seconds. */
class Rate {
  constructor() {
    this.buckets = new Array(10).fill(0);
    this.second = 0;
    this.began = Date.now() / 1000;
  }

  turn() {
    const now = Math.floor(Date.now() / 1000);
    for (let skipped = Math.min(10, now - this.second); skipped > 0; skipped -= 1) {
      this.buckets[(now - skipped + 1) % 10] = 0;
    }
    this.second = now;
    return now;
  }

  add(count) {
    this.buckets[this.turn() % 10] += count;
  }

  perMinute() {
    this.turn();
    const seconds = Math.min(10, Math.max(1, Date.now() / 1000 - this.began));
    return Math.round((this.buckets.reduce((sum, one) => sum + one, 0) * 60) / seconds);
  }
}
