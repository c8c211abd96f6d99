// Making an alert: draw, type, see at once what it would have matched, subscribe, watch it work.

import { call, pathOf, Problem } from "./api.js";
import { announce, attributesOf, button, byId, debounced, keepFirst, make, number, timeOf } from "./dom.js";
import { Field } from "./fields.js";
import { Outline } from "./outline.js";
import { inWords } from "./shapes.js";
import { kindOf } from "./sparks.js";
import { inShort } from "./watch.js";

const MOST_SHOWN = 200;
const MOST_DELIVERIES = 100;
const MOST_EXPLAINED = 20;

export class Alerts {
  constructor({ map, sparks, areas, session, drawing }) {
    Object.assign(this, { map, sparks, areas, session, drawing });
    this.all = new Map();
    this.outlines = new Map();
    this.edited = null;
    this.draft = new Outline(map, { name: "the new alert", className: "draft-shape", onMove: (area) => this.setArea(area) });
    this.fields = {
      keywords: new Field(byId("alert-keywords")),
      where: new Field(byId("alert-where")),
      area: new Field(byId("alert-area")),
    };
    this.unexplained = [];
    this.explainSoon = debounced(150, () => this.explain());
    this.trySoon = debounced(250, () => this.tryDraft());
    this.listen();
  }

  listen() {
    for (const one of document.querySelectorAll("[data-draw]")) {
      one.addEventListener("click", () => this.drawing.begin(one.dataset.draw, (area) => this.setArea(area)));
    }
    byId("alert-view").addEventListener("click", () => {
      const bounds = this.map.getBounds().pad(-0.1);
      const numbers = [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()];
      this.setArea(numbers.map((one) => Math.round(one * 1e4) / 1e4));
    });
    for (const name of ["keywords", "where"]) byId(`alert-${name}`).addEventListener("input", this.trySoon);
    byId("alert-area").addEventListener("input", () => this.readArea());
    byId("alert-cancel").addEventListener("click", () => this.reset());
    byId("alert-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.save();
    });
  }

  /** Read one's own alerts. */
  async load() {
    if (!this.session.owner) return;
    const page = await call("GET", `v1/subscriptions?owner=${encodeURIComponent(this.session.owner)}&limit=${MOST_SHOWN}`);
    const mine = page.subscriptions.filter((one) => one.mode !== "top" && one.metadata?.kind !== "mover");
    this.all = new Map(mine.map((one) => [one.id, one]));
    this.showAll();
  }

  // ---- the draft ---------------------------------------------------------------------------

  setArea(area) {
    byId("alert-area").value = JSON.stringify(area);
    this.fields.area.clear();
    this.area = area;
    this.draft.show(area);
    this.trySoon();
  }

  readArea() {
    const text = byId("alert-area").value.trim();
    try {
      this.area = text ? JSON.parse(text) : null;
      this.draft.show(this.area);
      this.trySoon();
    } catch {
      this.fields.area.show("not JSON: wanted a box, a Circle or GeoJSON");
    }
  }

  said() {
    const said = {};
    const keywords = byId("alert-keywords").value.trim();
    const where = byId("alert-where").value.trim();
    if (keywords) said.keywords = byId("alert-keywords").value;
    if (where) said.where = byId("alert-where").value;
    if (this.area) said.area = this.area;
    return said;
  }

  /** Ask how many of the recent messages it would have matched. */
  async tryDraft() {
    this.asking?.abort();
    const said = this.said();
    byId("alert-error").textContent = "";
    if (!Object.keys(said).length) return this.showDraft(null);
    this.asking = new AbortController();
    try {
      const answer = await call("POST", "v1/subscriptions/draft", said, { signal: this.asking.signal });
      for (const field of Object.values(this.fields)) field.clear();
      this.showDraft(answer);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.showDraft(null);
      this.showError(error);
    }
  }

  showDraft(answer) {
    const newest = answer?.newest ?? [];
    const since = typeof answer?.since === "number" ? ` since ${timeOf(answer.since)}` : "";
    byId("draft-count").replaceChildren(...(answer ? [
      make("strong", {}, number(answer.matched)),
      ` of the last ${number(answer.of)} messages${since} would have matched.`,
    ] : []));
    byId("draft-list").replaceChildren(...newest.slice(0, 8).map((one) => messageCard(one)));
    this.sparks.mark(newest);
  }

  showError(error) {
    const field = this.fields[error.details?.field];
    const words = error instanceof Problem ? error.words : "The service cannot be reached.";
    if (field) field.show(words, error.details.position);
    else byId("alert-error").textContent = words;
  }

  // ---- saving ------------------------------------------------------------------------------

  async save() {
    const name = byId("alert-name").value.trim();
    const said = { ...this.said(), metadata: { name: name || byId("alert-keywords").value.trim() || "alert" } };
    if (byId("alert-live").checked) said.live = true;
    try {
      if (this.edited) await call("PUT", pathOf(this.edited.id), { ...this.kept(), ...said });
      else await call("POST", "v1/subscriptions", said);
      announce(this.edited ? "Alert changed" : "Subscribed");
      this.reset();
      await this.load();
      this.areas.look();
    } catch (error) {
      this.showError(error);
    }
  }

  /** What an edited alert has that the form does not show. */
  kept() {
    const { except, expires, noise } = this.edited;
    return Object.fromEntries(Object.entries({ except, expires, noise }).filter(([, value]) => value !== undefined));
  }

  reset() {
    this.edited = null;
    this.area = null;
    byId("alert-form").reset();
    byId("alert-title").textContent = "New alert";
    byId("alert-save").textContent = "Subscribe";
    byId("alert-cancel").hidden = true;
    for (const field of Object.values(this.fields)) field.clear();
    byId("alert-error").textContent = "";
    this.draft.show(null);
    this.showDraft(null);
    this.showOutlines();
  }

  edit(alert) {
    this.reset();
    this.edited = alert;
    this.outlines.get(alert.id)?.remove();
    this.outlines.delete(alert.id);
    byId("alert-title").textContent = `Edit ${nameOf(alert)}`;
    byId("alert-save").textContent = "Save changes";
    byId("alert-cancel").hidden = false;
    byId("alert-keywords").value = Array.isArray(alert.keywords) ? alert.keywords.map(quoted).join(" ") : alert.keywords ?? "";
    byId("alert-where").value = alert.where ?? "";
    byId("alert-name").value = nameOf(alert);
    byId("alert-live").checked = Boolean(alert.live);
    if (alert.area) this.setArea(alert.area);
    else this.trySoon();
    byId("alert-keywords").focus();
  }

  async move(alert, area) {
    try {
      const { changes } = await call("POST", pathOf(alert.id, "/move"), { area });
      alert.area = area;
      announce(`${nameOf(alert)} moved, ${changes} changes`);
      this.showAll();
      this.areas.look();
    } catch (error) {
      this.showError(error);
      this.outlines.get(alert.id)?.show(alert.area);
    }
  }

  async remove(alert) {
    await call("DELETE", pathOf(alert.id));
    this.all.delete(alert.id);
    if (this.edited?.id === alert.id) this.reset();
    announce(`${nameOf(alert)} deleted`);
    this.showAll();
    this.areas.look();
  }

  showAll() {
    const items = [...this.all.values()].map((alert) => make("li", { "data-alert": alert.id },
      make("p", {}, make("strong", {}, nameOf(alert))),
      make("p", { class: "meta" }, `${inShort(alert)} · ${inWords(alert.area)}${alert.live ? " · live" : ""}`),
      make("p", { class: "row" },
        button("Show", () => this.outlines.get(alert.id)?.fit()),
        button("Edit", () => this.edit(alert)),
        button("Delete", () => this.remove(alert), { "aria-label": `Delete ${nameOf(alert)}` }))));
    byId("alert-list").replaceChildren(...(items.length ? items : [make("li", { class: "empty" }, "None yet.")]));
    this.showOutlines();
  }

  showOutlines() {
    for (const outline of this.outlines.values()) outline.remove();
    this.outlines.clear();
    for (const alert of this.all.values()) {
      if (!alert.area || alert.id === this.edited?.id) continue;
      const outline = new Outline(this.map, { name: nameOf(alert), onMove: (area) => this.move(alert, area) });
      outline.show(alert.area);
      this.outlines.set(alert.id, outline);
    }
  }

  // ---- deliveries --------------------------------------------------------------------------

  /** Take what the stream brings, if it is for an alert. */
  take(delivery) {
    const alert = this.all.get(delivery.subscription);
    if (!alert || delivery.type === "current") return;
    const published = delivery.published ?? this.sparks.byId.get(delivery.message)?.published;
    const why = make("p", { class: "why" });
    const card = make("li", { class: published ? `kind-${kindOf(published)}` : "", "data-message": delivery.message },
      make("p", {}, make("span", { class: `change ${delivery.change ?? ""}` }, signOf(delivery)), " ",
        published?.text ?? delivery.message ?? delivery.type,
        published ? make("small", {}, ` ${attributesOf(published)}`) : null),
      make("p", { class: "meta" }, `${timeOf(delivery.at)} · ${nameOf(alert)} · ${delivery.reason ?? delivery.type}`),
      why);
    byId("delivery-list").prepend(card);
    keepFirst(byId("delivery-list"), MOST_DELIVERIES);
    this.outlines.get(alert.id)?.flash();
    if (published && delivery.change !== "removed" && this.unexplained.length < MOST_EXPLAINED) {
      this.unexplained.push({ published, id: alert.id, why });
      this.explainSoon();
    }
  }

  /** Ask why, for all that have come meanwhile at once. */
  async explain() {
    const asked = this.unexplained.splice(0);
    const messages = asked.map(({ published }) => onlyMessage(published));
    const ids = [...new Set(asked.map(({ id }) => id))];
    try {
      const { matches } = await call("POST", "v1/match", { messages, explain: ids, owner: this.session.owner });
      asked.forEach(({ id, why }, i) => {
        const found = matches[i].explain?.find((one) => one.id === id);
        why.textContent = found?.why ?? "";
      });
    } catch {
      // A delivery without its reason is still one.
    }
  }
}

export const nameOf = (subscription) => subscription.metadata?.name ?? subscription.id;

export function onlyMessage({ text, at, bbox, attributes }) {
  return Object.fromEntries(Object.entries({ text, at, bbox, attributes }).filter(([, value]) => value !== undefined));
}

export function messageCard(published, ...more) {
  return make("li", { class: `kind-${kindOf(published)}` },
    make("p", {}, published.text ?? "", make("small", {}, ` ${attributesOf(published)}`)), ...more);
}

const quoted = (word) => (/^[\p{L}\p{N}]+$/u.test(word) ? word : `"${word}"`);

const signOf = (delivery) => ({ added: "+", removed: "−", updated: "~" })[delivery.change] ?? "·";
