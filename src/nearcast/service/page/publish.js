// Publishing by a click on the map, taking back, publishing a new version.

import { call, Problem } from "./api.js";
import { announce, attributesOf, button, byId, make, readPoint, showPoint } from "./dom.js";
import { rounded } from "./shapes.js";
import { kindOf } from "./sparks.js";

const { L } = window;
const MOST = 50;

export class Publishing {
  constructor({ map, drawing }) {
    this.map = map;
    this.mine = new Map();
    this.replaced = null;
    this.marker = null;
    map.on("click", (event) => {
      if (!byId("publish").hidden && !drawing.isActive) this.setPlace([event.latlng.wrap().lng, event.latlng.lat]);
    });
    byId("publish-at").addEventListener("input", () => this.showPlace());
    byId("publish-cancel").addEventListener("click", () => this.reset());
    byId("publish-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.publish();
    });
  }

  setPlace(point) {
    byId("publish-at").value = showPoint(point.map(rounded));
    this.showPlace();
  }

  showPlace() {
    this.marker?.remove();
    const point = readPoint(byId("publish-at").value);
    if (!point) return;
    const icon = L.divIcon({ className: "pin", iconSize: [16, 16] });
    this.marker = L.marker([point[1], point[0]], { icon, keyboard: false, interactive: false }).addTo(this.map);
  }

  said() {
    const at = readPoint(byId("publish-at").value);
    if (!at) throw new Problem(0, { detail: "Where? Click on the map, or type longitude and latitude." });
    const attributes = readAttributes(byId("publish-attributes").value);
    const expires = Date.now() / 1000 + 60 * Number(byId("publish-minutes").value);
    const said = { text: byId("publish-text").value, at, expires };
    return Object.keys(attributes).length ? { ...said, attributes } : said;
  }

  async publish() {
    byId("publish-error").textContent = "";
    try {
      const said = this.said();
      const answer = this.replaced
        ? await call("PUT", `v1/messages/${encodeURIComponent(this.replaced)}`, said)
        : await call("POST", "v1/messages", said);
      this.mine.delete(answer.id);
      this.mine.set(answer.id, said);
      if (this.mine.size > MOST) this.mine.delete(this.mine.keys().next().value);
      const words = answer.changes === 1 ? "1 change" : `${answer.changes} changes`;
      this.reset();
      byId("publish-answer").textContent = `Published: ${words} for saved searches.`;
    } catch (error) {
      this.showError(error);
    }
    this.showMine();
  }

  showError(error) {
    byId("publish-error").textContent = error instanceof Problem ? error.words : "The service cannot be reached.";
  }

  reset() {
    this.replaced = null;
    byId("publish-form").reset();
    byId("publish-title").textContent = "Publish a message";
    byId("publish-save").textContent = "Publish";
    byId("publish-cancel").hidden = true;
    byId("publish-answer").textContent = "";
    this.showPlace();
  }

  change(id) {
    const said = this.mine.get(id);
    this.replaced = id;
    byId("publish-title").textContent = "A new version";
    byId("publish-save").textContent = "Replace";
    byId("publish-cancel").hidden = false;
    byId("publish-text").value = said.text;
    byId("publish-attributes").value = Object.entries(said.attributes ?? {}).map(([k, v]) => `${k}: ${v}`).join("\n");
    this.setPlace(said.at);
    byId("publish-text").focus();
  }

  async retract(id) {
    try {
      const { changes } = await call("DELETE", `v1/messages/${encodeURIComponent(id)}`);
      this.mine.delete(id);
      announce(`Taken back: ${changes} changes`);
      byId("publish-answer").textContent = `Taken back: ${changes} changes.`;
    } catch (error) {
      this.showError(error);
    }
    this.showMine();
  }

  showMine() {
    const items = [...this.mine].reverse().map(([id, said]) => make("li", { class: `kind-${kindOf(said)}` },
      make("p", {}, said.text, make("small", {}, ` ${attributesOf(said)}`)),
      make("p", { class: "row" },
        button("Replace", () => this.change(id)),
        button("Retract", () => this.retract(id)))));
    byId("publish-list").replaceChildren(...items);
  }
}

/** Read "name: value" lines: numbers, true and false are what they look like; the rest is text. */
function readAttributes(text) {
  const attributes = {};
  for (const line of text.split("\n")) {
    const found = /^\s*([^:=\s]+)\s*[:=]\s*(.*?)\s*$/.exec(line);
    if (!found) {
      if (line.trim()) throw new Problem(0, { detail: `“${line.trim()}” is no attribute: wanted name: value` });
      continue;
    }
    const [, name, value] = found;
    if (value === "true" || value === "false") attributes[name] = value === "true";
    else attributes[name] = value !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
  }
  return attributes;
}
