// Light or dark: as the system says, until the visitor says otherwise.

import { byId } from "./dom.js";

const STORED = "nearcast-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

export const theme = () => localStorage.getItem(STORED) ?? (system.matches ? "dark" : "light");

/** Call `listener` now and whenever the colours change. */
export function onTheme(listener) {
  listeners.add(listener);
  listener();
}

/** The colour of a custom property, for canvases. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function apply() {
  document.documentElement.dataset.theme = theme();
  const other = theme() === "dark" ? "light" : "dark";
  const switcher = byId("theme-button");
  switcher.textContent = other === "dark" ? "Dark" : "Light";
  switcher.setAttribute("aria-label", `Switch to ${other} colours`);
  for (const listener of listeners) listener();
}

export function startTheme() {
  system.addEventListener("change", apply);
  byId("theme-button").addEventListener("click", () => {
    localStorage.setItem(STORED, theme() === "dark" ? "light" : "dark");
    apply();
  });
  apply();
}
