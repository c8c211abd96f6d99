// The page: who is looking, what they may do, which part is shown, and who gets what the streams bring.

import { Alerts } from "./alerts.js";
import { call, follow, useKey } from "./api.js";
import { Areas } from "./areas.js";
import { byId, button, make } from "./dom.js";
import { Drawing } from "./draw.js";
import { makeMap } from "./map.js";
import { Mover } from "./mover.js";
import { Operating } from "./operate.js";
import { Publishing } from "./publish.js";
import { Sparks } from "./sparks.js";
import { startTheme } from "./theme.js";
import { TopLists } from "./toplists.js";
import { Watch } from "./watch.js";

/** Which roles a part needs: one of them. */
const NEEDS = {
  watch: ["publish", "subscribe", "read"], alerts: ["subscribe"], publish: ["publish"],
  toplists: ["subscribe"], mover: ["subscribe"], operate: ["read"],
};

class Session {
  constructor(me) {
    this.me = me;
    this.owner = this.may("subscribe") ? me.owner : null;
  }

  may(...roles) {
    return this.me.roles.includes("admin") || roles.some((role) => this.me.roles.includes(role));
  }
}

function askForKey(isNeeded) {
  const dialog = byId("key-dialog");
  byId("key-dialog-note").textContent = isNeeded
    ? "This service asks for a key. It is kept until this tab is closed."
    : "Another key shows what that key may see; none goes back to without.";
  dialog.showModal();
}

function listenForKey() {
  byId("key-button").addEventListener("click", () => askForKey(false));
  byId("key-dialog").addEventListener("close", () => {
    if (byId("key-dialog").returnValue !== "use") return;
    useKey(byId("key-input").value);
    location.reload();
  });
}

// ---- tabs --------------------------------------------------------------------------------------

const tabs = () => [...document.querySelectorAll("[role=tab]")].filter((tab) => !tab.hidden);

function select(tab, parts) {
  for (const one of document.querySelectorAll("[role=tab]")) {
    const isChosen = one === tab;
    one.setAttribute("aria-selected", String(isChosen));
    one.tabIndex = isChosen ? 0 : -1;
    byId(one.getAttribute("aria-controls")).hidden = !isChosen;
  }
  const name = tab.getAttribute("aria-controls");
  document.body.dataset.part = name;
  history.replaceState(null, "", `#${name}`);
  if (name === "operate") parts.operate.open();
}

function listenForTabs(session, parts) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.hidden = !session.may(...NEEDS[tab.getAttribute("aria-controls")]);
    tab.addEventListener("click", () => select(tab, parts));
    tab.addEventListener("keydown", (event) => {
      const shown = tabs();
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = event.key === "Home" ? shown[0] : event.key === "End" ? shown.at(-1)
        : step && shown[(shown.indexOf(tab) + step + shown.length) % shown.length];
      if (!next) return;
      event.preventDefault();
      select(next, parts);
      next.focus();
    });
  }
  const asked = byId(`tab-${location.hash.slice(1)}`);
  select(asked && !asked.hidden ? asked : tabs()[0], parts);
}

function addInvitations(session) {
  const wanted = { alerts: "Make an alert", publish: "Publish something", toplists: "Make a top list", mover: "Drive around", operate: "See how it does" };
  const shown = Object.entries(wanted).filter(([name]) => session.may(...NEEDS[name]));
  byId("invitations").append(...shown.map(([name, words]) => button(words, () => byId(`tab-${name}`).click())));
}

function addPlaces(map, cities) {
  const choice = byId("go-to");
  choice.append(make("option", { value: "" }, "a city…"), make("option", { value: "world" }, "the world"));
  cities.forEach(([name], i) => choice.append(make("option", { value: i }, name)));
  choice.addEventListener("change", () => {
    if (choice.value === "world") map.setView([25, 10], 2);
    else if (choice.value !== "") map.setView([cities[choice.value][2], cities[choice.value][1]], 11);
    choice.value = "";
  });
}

function showState(state) {
  const words = { live: "live", lost: "connecting again", refused: "not allowed", connecting: "connecting" };
  byId("state").dataset.state = state;
  byId("state").textContent = words[state];
}

async function start() {
  startTheme();
  listenForKey();
  let me;
  try {
    me = await call("GET", "v1/me");
  } catch (error) {
    showState(error.status === 401 ? "refused" : "lost");
    if (error.status === 401) return askForKey(true);
    setTimeout(() => location.reload(), 3_000);
    return undefined;
  }
  const session = new Session(me);
  byId("key-button").textContent = me.are_keys_needed ? `Key: ${me.roles.join(", ")}` : "Key";
  const { map, cities } = await makeMap(me.page);
  addPlaces(map, cities);
  addInvitations(session);
  const common = { map, session, drawing: new Drawing(map) };
  common.sparks = new Sparks(map);
  common.areas = new Areas(map, session);
  const parts = {
    watch: new Watch(common), alerts: new Alerts(common), publish: new Publishing(common),
    toplists: new TopLists(common), mover: new Mover(common), operate: new Operating(common),
  };
  listenForTabs(session, parts);
  const { signal } = new AbortController();
  parts.watch.start(signal, showState);
  parts.operate.start(signal);
  if (session.owner) {
    await Promise.all([parts.alerts.load(), parts.toplists.load(), parts.mover.load()]);
    const takers = [parts.alerts, parts.toplists, parts.mover];
    follow(`v1/stream?owner=${encodeURIComponent(session.owner)}`, (event, delivery) => {
      if (event === "reset") for (const taker of takers) taker.load();
      if (delivery.subscription) for (const taker of takers) taker.take(delivery);
    }, () => {}, signal);
  }
  document.body.dataset.ready = "true";
}

start();
