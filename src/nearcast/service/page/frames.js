// How smoothly does the page draw? Frames that follow each other closely are counted, with their time.

const PAUSE_MS = 500;

export class Frames {
  constructor() {
    this.count = 0;
    this.milliseconds = 0;
    this.slowest = 0;
    this.before = -Infinity;
  }

  /** Note that a frame is drawn now. What comes after a pause begins anew: nothing was to be drawn. */
  note(now) {
    const since = now - this.before;
    this.before = now;
    if (since > PAUSE_MS) return;
    this.count += 1;
    this.milliseconds += since;
    this.slowest = Math.max(this.slowest, since);
  }

  /** Frames a second, and the longest wait for one. */
  get figures() {
    const rate = this.milliseconds ? (1_000 * this.count) / this.milliseconds : 0;
    return { frames: this.count, rate: Math.round(rate * 10) / 10, slowest_ms: Math.round(this.slowest) };
  }
}
