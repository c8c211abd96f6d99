// For the one who runs it: figures over time, sizes, webhooks, keys.

import { call, Problem, useKey } from "./api.js";
import { announce, button, byId, make, number, timeOf } from "./dom.js";
import { Chart } from "./charts.js";

const POLL_MS = 2_000;
const MEGABYTE = 1 << 20;

/** What is drawn: a title, a unit, and how it comes out of two samples of the metrics. */
const CHARTS = [
  ["Events", "/s", (m) => m.rate("nearcast_events_total")],
  ["Changes", "/s", (m) => m.rate("nearcast_changes_total")],
  ["Matching, a batch", "ms", (m) => 1000 * m.mean("nearcast_match_seconds")],
  ["Commit", "ms", (m) => 1000 * m.mean("nearcast_commit_seconds")],
  ["Delivered", "/s", (m) => m.rate("nearcast_deliveries_total")],
  ["Delivery lag", "s", (m) => Math.max(m.mean("nearcast_delivery_seconds"), m.value("nearcast_delivery_lag_seconds"))],
  ["Not yet delivered", "", (m) => m.value("nearcast_outbox_lag")],
  ["Retries", "/s", (m) => m.rate("nearcast_webhook_retries_total")],
  ["Dead letters", "", (m) => m.value("nearcast_webhook_dead_letters_total")],
  ["Events that wait", "", (m) => m.value("nearcast_waiting_events")],
  ["Memory, process", "MB", (m) => m.value("nearcast_resident_bytes") / MEGABYTE],
  ["Memory, hub", "MB", (m) => m.value("nearcast_hub_bytes") / MEGABYTE],
  ["Errors (5xx)", "/s", (m) => m.rate("nearcast_http_requests_total/5xx")],
];

export class Operating {
  constructor({ session }) {
    this.session = session;
    this.before = null;
    this.charts = CHARTS.map(([title, unit]) => new Chart(title, unit));
    byId("charts").append(...this.charts.map((chart) => chart.part));
    byId("key-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.makeKey();
    });
  }

  start(signal) {
    if (!this.session.may("read")) return;
    const poll = async () => {
      if (signal.aborted) return;
      if (!document.hidden) await this.look();
      setTimeout(poll, POLL_MS);
    };
    poll();
  }

  /** Called when the tab is shown. */
  async open() {
    this.charts.forEach((chart) => chart.draw());
    await this.look();
    await Promise.all([this.showEndpoints(), this.showKeys()]);
  }

  async look() {
    try {
      const after = Math.floor(this.before?.at ?? 0);
      const [{ samples }, stats] = await Promise.all([call("GET", `v1/history?after=${after}`), call("GET", "v1/stats")]);
      for (const sample of samples.filter((one) => one.at > (this.before?.at ?? 0))) this.push(sample);
      byId("count-subscriptions").textContent = number(stats.subscriptions);
      byId("operate-note").textContent = "";
      if (!byId("operate").hidden) this.showSizes(stats);
    } catch (error) {
      byId("operate-note").textContent = error instanceof Problem ? error.words : "The service does not answer.";
    }
  }

  push(sample) {
    if (this.before) {
      const step = new Step(this.before, sample);
      CHARTS.forEach(([, , read], i) => this.charts[i].push(sample.at, read(step)));
    }
    this.before = sample;
  }

  showSizes(stats) {
    const flat = { ...stats, ...stats.hub };
    const shown = Object.entries(flat).filter(([, value]) => typeof value === "number");
    byId("sizes").replaceChildren(...shown.map(([name, value]) => make("div", {},
      make("dt", {}, name.replace(/_bytes$/, "").replaceAll("_", " ")), make("dd", {}, sizeOf(name, value)))));
  }

  async showEndpoints() {
    if (!this.session.owner) return;
    const { endpoints } = await call("GET", "v1/endpoints");
    byId("endpoints-part").hidden = !endpoints.length;
    byId("endpoint-list").replaceChildren(...endpoints.map((one) => make("li", {},
      make("p", {}, make("strong", {}, one.id), ` ${one.url}`),
      make("p", { class: "meta" }, Object.entries(one).filter(([name]) => !["id", "url", "owner"].includes(name))
        .map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`).join(" · ")),
      button("Replay dead letters", async () => {
        const { delivered, left } = await call("POST", `v1/endpoints/${encodeURIComponent(one.id)}/dead-letters/replay`, {});
        announce(`${delivered} delivered, ${left} left`);
      }))));
  }

  async showKeys() {
    byId("keys-part").hidden = !this.session.may("admin");
    if (!this.session.may("admin")) return;
    const { keys } = await call("GET", "v1/keys");
    byId("keys-note").textContent = keys.length ? "" : "There are none: everybody who reaches this address may do everything. The first key ends that.";
    byId("key-list").replaceChildren(...keys.map((one) => make("li", {},
      make("p", {}, make("strong", {}, one.name || one.id), ` ${one.roles.join(", ")}${one.owner ? ` for ${one.owner}` : ""}`),
      button("Remove", async () => {
        await call("DELETE", `v1/keys/${encodeURIComponent(one.id)}`);
        await this.showKeys();
      }, { "aria-label": `Remove key ${one.name || one.id}` }))));
  }

  async makeKey() {
    const roles = [...document.querySelectorAll("input[name=role]:checked")].map((one) => one.value);
    const body = { roles, name: byId("new-key-name").value.trim(), owner: byId("new-key-owner").value.trim() || null };
    byId("key-error").textContent = "";
    const isFirst = !this.session.me.are_keys_needed;
    if (isFirst && !roles.includes("admin")) {
      byId("key-error").textContent = "The first key must have the role admin: without one, this page could make no others.";
      return;
    }
    try {
      const made = await call("POST", "v1/keys", body);
      if (isFirst) useKey(made.key); // from now on a key is needed, here too
      this.session.me.are_keys_needed = true;
      byId("new-key").replaceChildren("Copy it now, it is shown this once: ", make("code", {}, made.key));
      await this.showKeys();
    } catch (error) {
      byId("key-error").textContent = error instanceof Problem ? error.words : "The service cannot be reached.";
    }
  }
}

function sizeOf(name, value) {
  if (name === "clock") return timeOf(value);
  if (!name.endsWith("_bytes")) return number(Math.round(value));
  return value < MEGABYTE ? `${number(Math.round(value / 1024))} kB` : `${(value / MEGABYTE).toFixed(1)} MB`;
}

/** Two samples of the metrics, and what happened between them. */
class Step {
  constructor(before, now) {
    this.seconds = Math.max(0.1, now.at - before.at);
    this.before = before.values;
    this.now = now.values;
  }

  value(name) {
    return this.now[name] ?? 0;
  }

  rate(name) {
    return this.grown(name) / this.seconds;
  }

  grown(name) {
    return Math.max(0, this.value(name) - (this.before[name] ?? 0));
  }

  mean(name) {
    const count = this.grown(`${name}_count`);
    return count ? this.grown(`${name}_sum`) / count : 0;
  }
}
