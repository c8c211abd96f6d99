// A small line chart over time. Bounded: the oldest value goes.

import { make } from "./dom.js";
import { colour, onTheme } from "./theme.js";

const MOST = 900;

export class Chart {
  constructor(title, unit) {
    this.title = title;
    this.unit = unit;
    this.format = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
    this.values = [];
    this.canvas = make("canvas", { role: "img", width: 300, height: 80 });
    this.value = make("strong", {}, "–");
    this.part = make("figure", { class: "chart" },
      make("figcaption", {}, `${title} `, this.value), this.canvas);
    onTheme(() => this.draw());
  }

  push(time, value) {
    this.values.push([time, value]);
    if (this.values.length > MOST) this.values.shift();
    const shown = `${this.format.format(value)} ${this.unit}`;
    this.value.textContent = shown;
    this.canvas.setAttribute("aria-label", `${this.title}: ${shown} now, at most ${this.format.format(this.most())}`);
    this.drawSoon();
  }

  /** Once per frame, however many values come at once. */
  drawSoon() {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      this.draw();
    });
  }

  most() {
    return Math.max(...this.values.map(([, value]) => value), 0);
  }

  draw() {
    const box = this.canvas.getBoundingClientRect();
    if (!box.width || this.values.length < 2) return;
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = box.width * scale;
    this.canvas.height = box.height * scale;
    const context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    const top = this.most() || 1;
    const [first, last] = [this.values[0][0], this.values[this.values.length - 1][0]];
    const x = (time) => 2 + ((time - first) / (last - first || 1)) * (box.width - 4);
    const y = (value) => box.height - 4 - (value / top) * (box.height - 20);
    context.beginPath();
    this.values.forEach(([time, value], i) => (i ? context.lineTo(x(time), y(value)) : context.moveTo(x(time), y(value))));
    context.strokeStyle = colour("--accent");
    context.lineWidth = 1.75;
    context.stroke();
    context.lineTo(x(last), box.height - 4);
    context.lineTo(x(first), box.height - 4);
    context.globalAlpha = 0.15;
    context.fillStyle = colour("--accent");
    context.fill();
    context.globalAlpha = 1;
    context.fillStyle = colour("--quiet");
    context.font = "11px system-ui, sans-serif";
    context.fillText(this.format.format(top), 4, 11);
    const minutes = (last - first) / 60;
    const span = minutes < 1.5 ? `${Math.round(last - first)} s` : `${minutes.toFixed(0)} min`;
    context.textAlign = "right";
    context.fillText(span, box.width - 4, 11);
  }
}
