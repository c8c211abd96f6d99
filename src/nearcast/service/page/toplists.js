// Top lists: the best k right now. They are asked for again when the stream says that one has changed.

import { call, pathOf, Problem } from "./api.js";
import { nameOf, messageCard } from "./alerts.js";
import { button, byId, debounced, isCalm, make, readPoint, showPoint } from "./dom.js";
import { rounded } from "./shapes.js";

const { L } = window;

export class TopLists {
  constructor({ map, session, drawing }) {
    this.map = map;
    this.session = session;
    this.lists = new Map();
    map.on("click", (event) => {
      if (byId("toplists").hidden || drawing.isActive) return;
      byId("top-at").value = showPoint([event.latlng.wrap().lng, event.latlng.lat]);
    });
    byId("top-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.add();
    });
  }

  async load() {
    if (!this.session.owner) return;
    const page = await call("GET", `v1/subscriptions?owner=${encodeURIComponent(this.session.owner)}&limit=1000`);
    const mine = page.subscriptions.filter((one) => one.mode === "top");
    for (const id of this.lists.keys()) if (!mine.some((one) => one.id === id)) this.drop(id);
    for (const one of mine) if (!this.lists.has(one.id)) this.lists.set(one.id, new TopList(this, one));
  }

  async add() {
    byId("top-error").textContent = "";
    const middle = this.map.getCenter().wrap();
    const words = byId("top-keywords").value.trim();
    const at = readPoint(byId("top-at").value) ?? [middle.lng, middle.lat];
    const body = {
      mode: "top", keywords: words.split(/\s+/).filter(Boolean), at: at.map(rounded),
      k: Number(byId("top-k").value), alpha: Number(byId("top-alpha").value), metadata: { name: words },
    };
    try {
      await call("POST", "v1/subscriptions", body);
      byId("top-form").reset();
      await this.load();
    } catch (error) {
      byId("top-error").textContent = error instanceof Problem ? error.words : "The service cannot be reached.";
    }
  }

  take(delivery) {
    this.lists.get(delivery.subscription)?.lookSoon();
  }

  drop(id) {
    this.lists.get(id)?.remove();
    this.lists.delete(id);
  }
}

class TopList {
  constructor(owner, subscription) {
    this.owner = owner;
    this.subscription = subscription;
    this.items = new Map();
    this.lookSoon = debounced(150, () => this.look());
    this.list = make("ol", { class: "cards ranked" });
    this.part = make("section", { class: "top-list", "aria-label": `Top list ${nameOf(subscription)}` },
      make("h3", {}, nameOf(subscription), make("small", {}, ` best ${subscription.k}`)),
      this.list,
      make("p", { class: "row" },
        button("Show", () => owner.map.setView(this.marker.getLatLng(), 11)),
        button("Delete", () => this.end(), { "aria-label": `Delete top list ${nameOf(subscription)}` })));
    byId("top-lists").prepend(this.part);
    this.addMarker();
    this.look();
  }

  addMarker() {
    const [lon, lat] = this.subscription.at;
    const icon = L.divIcon({ className: "star", html: "★", iconSize: [24, 24] });
    const title = `Top list ${nameOf(this.subscription)}: drag it`;
    this.marker = L.marker([lat, lon], { icon, draggable: true, title, alt: title }).addTo(this.owner.map);
    this.marker.on("dragend", async () => {
      const at = this.marker.getLatLng().wrap();
      await call("POST", pathOf(this.subscription.id, "/move"), { at: [rounded(at.lng), rounded(at.lat)] });
      this.lookSoon();
    });
  }

  async look() {
    try {
      const { results } = await call("GET", pathOf(this.subscription.id, `/results?owner=${encodeURIComponent(this.owner.session.owner)}`));
      this.show(results);
    } catch (error) {
      if (error.status === 404) this.owner.drop(this.subscription.id);
    }
  }

  /** Put the entries in their order; each goes from where it was to where it is now. */
  show(results) {
    const before = new Map([...this.items].map(([id, item]) => [id, item.getBoundingClientRect().top]));
    const items = new Map(results.map((one) => [one.message, this.itemOf(one)]));
    this.items = items;
    this.list.replaceChildren(...items.values());
    if (!results.length) this.list.append(make("li", { class: "empty" }, "Nothing live fits yet."));
    if (isCalm()) return;
    for (const [id, item] of items) {
      const from = before.get(id);
      if (from === undefined) {
        item.animate([{ opacity: 0 }, { opacity: 1 }], 300);
      } else {
        const way = from - item.getBoundingClientRect().top;
        if (way) item.animate([{ transform: `translateY(${way}px)` }, { transform: "none" }], { duration: 350, easing: "ease-out" });
      }
    }
  }

  itemOf(one) {
    const published = one.published ?? { text: one.message };
    return messageCard(published, make("p", { class: "meta" },
      make("meter", { min: 0, max: 1, value: one.score, "aria-label": "score" }), ` ${one.score.toFixed(3)}`));
  }

  async end() {
    await call("DELETE", pathOf(this.subscription.id));
    this.owner.drop(this.subscription.id);
  }

  remove() {
    this.part.remove();
    this.marker.remove();
  }
}
