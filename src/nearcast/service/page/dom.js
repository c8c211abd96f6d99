// Elements, short. Text is always set as text: nothing that users wrote becomes markup.

export const byId = (id) => document.getElementById(id);

/** Make an element: `on` has listeners, other attributes are set as they are, null and false left out. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value !== null && value !== false && value !== undefined) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const button = (label, listener, attributes = {}) =>
  make("button", { type: "button", on: { click: listener }, ...attributes }, label);

/** Keep a list short: the oldest children go. */
export function keepFirst(list, most) {
  while (list.childElementCount > most) list.lastElementChild.remove();
}

export function announce(text) {
  byId("announcer").textContent = text;
}

export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function debounced(wait, work) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...values), wait);
  };
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export const timeOf = (seconds) => clock.format(new Date(seconds * 1000));

export const number = (value) => new Intl.NumberFormat().format(value);

/** Read "2.35, 48.86". */
export function readPoint(text) {
  const parts = text.trim().split(/[\s,;]+/).map(Number);
  return parts.length === 2 && parts.every(Number.isFinite) ? parts : null;
}

export const showPoint = ([lon, lat]) => `${lon.toFixed(5)}, ${lat.toFixed(5)}`;

/** Show what a message says beside its text. */
export function attributesOf(published) {
  const shown = Object.entries(published.attributes ?? {}).filter(([name]) => name !== "kind");
  return shown.map(([name, value]) => `${name} ${value}`).join(" · ");
}
