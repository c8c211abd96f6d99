// A picture of many things, painted a slice in each frame, so that no frame does more than a bounded
// amount of work. Until the new picture is whole the one before is shown, moved to where it belongs.

const PER_FRAME = 1_500;

export class Painting {
  /** `paint(context, view, things)` draws some of the things. */
  constructor(paint) {
    this.paint = paint;
    this.things = [];
    this.whole = null;
    this.next = null;
  }

  /** What is to be painted from now on; `isMore`: what was there stays, others have come. */
  set(things, isMore = false) {
    this.things = things;
    if (!isMore) this.next = null;
  }

  /** Draw what there is; true: it is not whole yet, another frame is needed. */
  draw(context, view) {
    if (!view.width || !view.height) return false;
    if (!this.next || !isSame(this.next.view, view)) this.next = begin(view);
    const { next } = this;
    const slice = this.things.slice(next.done, next.done + PER_FRAME);
    if (slice.length) this.paint(next.context, view, slice);
    next.done += slice.length;
    const isWhole = next.done >= this.things.length;
    if (isWhole) this.whole = next;
    const shown = !isWhole && this.whole?.view.world === view.world ? this.whole : next;
    const { view: there, canvas } = shown;
    context.drawImage(canvas, there.left - view.left, there.top - view.top, there.width, there.height);
    return !isWhole;
  }
}

function begin(view) {
  const canvas = document.createElement("canvas");
  canvas.width = view.width * view.scale;
  canvas.height = view.height * view.scale;
  const context = canvas.getContext("2d");
  context.scale(view.scale, view.scale);
  return { canvas, context, view, done: 0 };
}

const isSame = (a, b) => ["world", "left", "top", "width", "height"].every((name) => a[name] === b[name]);
