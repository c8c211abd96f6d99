// A subscriber that moves. Where the service promises a safe distance, it keeps silent until it has gone
// that far: what it holds cannot change before.

import { call, pathOf, Problem } from "./api.js";
import { messageCard } from "./alerts.js";
import { announce, byId, debounced, make, number } from "./dom.js";
import { Outline } from "./outline.js";
import { metresBetween, rounded } from "./shapes.js";

const { L } = window;
const STEP_MS = 100;
const ASK_MS = 1_000;
const MOST_HELD = 50;

export class Mover {
  constructor({ map, session, drawing }) {
    Object.assign(this, { map, session, drawing });
    this.id = null;
    this.counts = { steps: 0, reports: 0 };
    this.outline = new Outline(map, { name: "the moving subscriber", className: "moving-area", onMove: (area) => this.goTo(area.center) });
    this.lookSoon = debounced(150, () => this.look());
    byId("mover-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.start();
    });
    byId("mover-route").addEventListener("click", () => drawing.begin("route", (points) => this.setRoute(points)));
    byId("mover-drive").addEventListener("click", () => (this.driving ? this.halt() : this.drive()));
    byId("mover-end").addEventListener("click", () => this.end());
  }

  /** Find the one that was left running. */
  async load() {
    if (!this.session.owner || this.id) return;
    const page = await call("GET", `v1/subscriptions?owner=${encodeURIComponent(this.session.owner)}&limit=1000`);
    const left = page.subscriptions.find((one) => one.metadata?.kind === "mover");
    if (left) await this.take_up(left.id, left.area);
  }

  async start() {
    byId("mover-error").textContent = "";
    const middle = this.map.getCenter().wrap();
    const area = {
      type: "Circle", center: [rounded(middle.lng), rounded(middle.lat)],
      radius_m: Number(byId("mover-radius").value),
    };
    const keywords = byId("mover-keywords").value.trim();
    const body = { area, live: true, metadata: { name: "moving", kind: "mover" }, ...(keywords ? { keywords } : {}) };
    try {
      if (this.id) await call("PUT", pathOf(this.id), body);
      else this.id = (await call("POST", "v1/subscriptions", body)).id;
      await this.take_up(this.id, area);
      announce("The subscriber is on the map");
    } catch (error) {
      byId("mover-error").textContent = error instanceof Problem ? error.words : "The service cannot be reached.";
    }
  }

  async take_up(id, area) {
    this.id = id;
    this.area = this.reported = area;
    this.counts = { steps: 0, reports: 0 };
    this.outline.show(area);
    for (const name of ["route", "end"]) byId(`mover-${name}`).disabled = false;
    byId("mover-drive").disabled = !this.route;
    byId("mover-start").textContent = "Start again here";
    await Promise.all([this.askPromise(), this.look()]);
  }

  /** One step. It is reported when it leads out of the safe region, or nothing is promised. */
  async goTo(center) {
    this.area = { ...this.area, center: center.map(rounded) };
    this.counts.steps += 1;
    this.outline.show(this.area);
    this.showState();
    if (this.isReporting) return; // the next step after the answer speaks for this one
    const gone = metresBetween(this.area.center, this.reported.center);
    if (this.promised !== null && gone < this.promised) return;
    await this.report();
  }

  async report() {
    this.isReporting = true;
    const area = this.area;
    try {
      await call("POST", pathOf(this.id, "/move"), { area });
      this.counts.reports += 1;
      this.reported = area;
      await this.askPromise();
    } catch (error) {
      if (error.status === 404) this.forget();
    } finally {
      this.isReporting = false;
    }
    const gone = this.id ? metresBetween(this.area.center, this.reported.center) : 0;
    if (gone > 0 && (this.promised === null || gone >= this.promised)) await this.report();
  }

  /** Ask how far it may go. A message that comes near makes a promise shorter, so ask now and then. */
  async askPromise() {
    if (!this.id) return;
    const answer = await call("GET", pathOf(this.id, `/safe-region?owner=${encodeURIComponent(this.session.owner)}`));
    this.promised = answer.safe_distance;
    this.showRegion();
    this.showState();
    clearTimeout(this.asking);
    this.asking = setTimeout(() => this.askAgain(), ASK_MS);
  }

  async askAgain() {
    try {
      await this.askPromise();
      const gone = this.id ? metresBetween(this.area.center, this.reported.center) : 0;
      if (gone > 0 && gone >= (this.promised ?? 0) && !this.isReporting) await this.report();
    } catch {
      this.asking = setTimeout(() => this.askAgain(), 5 * ASK_MS);
    }
  }

  showRegion() {
    this.region?.remove();
    if (!this.promised) return;
    const [lon, lat] = this.reported.center;
    this.region = L.circle([lat, lon], { radius: this.promised, className: "safe-region", interactive: false });
    this.region.addTo(this.map);
  }

  showState() {
    const { steps, reports } = this.counts;
    const promise = this.promised === null || this.promised === undefined ? "No safe region is promised: every step is reported."
      : `Safe for ${number(Math.round(this.promised))} m around the dashed circle’s middle.`;
    byId("mover-state").textContent = `${promise} ${number(steps)} steps, ${number(reports)} reported.`;
  }

  // ---- driving -----------------------------------------------------------------------------

  setRoute(points) {
    this.route = points;
    this.line?.remove();
    this.line = L.polyline(points.map(([lon, lat]) => [lat, lon]), { className: "route", interactive: false }).addTo(this.map);
    byId("mover-drive").disabled = false;
  }

  /** Go along the route, to its end and back, in about half a minute. */
  drive() {
    const points = [...this.route, ...this.route.slice(0, -1).reverse()];
    const lengths = points.slice(1).map((one, i) => metresBetween(points[i], one));
    const total = lengths.reduce((sum, one) => sum + one, 0);
    const perStep = total / 300;
    let gone = 0;
    byId("mover-drive").textContent = "Stop";
    this.driving = setInterval(() => {
      gone = (gone + perStep) % total;
      let rest = gone;
      let i = 0;
      while (i < lengths.length - 1 && rest > lengths[i]) rest -= lengths[i++];
      const share = lengths[i] ? rest / lengths[i] : 0;
      this.goTo([0, 1].map((k) => points[i][k] + (points[i + 1][k] - points[i][k]) * share));
    }, STEP_MS);
  }

  halt() {
    clearInterval(this.driving);
    this.driving = null;
    byId("mover-drive").textContent = "Drive";
  }

  async end() {
    this.halt();
    const id = this.id;
    this.forget();
    if (id) await call("DELETE", pathOf(id));
  }

  forget() {
    this.halt();
    clearTimeout(this.asking);
    this.id = this.route = null;
    this.outline.show(null);
    this.region?.remove();
    this.line?.remove();
    for (const name of ["route", "drive", "end"]) byId(`mover-${name}`).disabled = true;
    byId("mover-start").textContent = "Start here";
    byId("mover-state").textContent = "";
    byId("mover-list").replaceChildren();
  }

  // ---- what it holds -----------------------------------------------------------------------

  take(delivery) {
    if (delivery.subscription === this.id) this.lookSoon();
  }

  async look() {
    if (!this.id) return;
    try {
      const { results } = await call("GET", pathOf(this.id, `/results?owner=${encodeURIComponent(this.session.owner)}`));
      const shown = results.slice(0, MOST_HELD).map((one) => messageCard(one.published ?? { text: one.message }));
      if (results.length > MOST_HELD) shown.push(make("li", { class: "empty" }, `and ${number(results.length - MOST_HELD)} more`));
      byId("mover-list").replaceChildren(...(shown.length ? shown : [make("li", { class: "empty" }, "Nothing here now.")]));
    } catch (error) {
      if (error.status === 404) this.forget();
    }
  }
}
