// A canvas over the whole map, drawn again when the map has moved. Leaflet draws single shapes; what
// there are thousands of is drawn here, in one pass.

const { L } = window;

export const Stage = L.Layer.extend({
  /** `draw(context, view)` draws everything; `view` says where things are on the canvas. */
  initialize(pane, draw) {
    this.paneName = pane;
    this.paint = draw;
    this.isAsked = false;
  },

  onAdd(map) {
    this.canvas = L.DomUtil.create("canvas", "stage", map.getPane(this.paneName));
    this.context = this.canvas.getContext("2d");
    map.on("move resize zoomend viewreset", this.place, this);
    this.place();
  },

  onRemove(map) {
    map.off("move resize zoomend viewreset", this.place, this);
    this.canvas.remove();
  },

  place() {
    const size = this._map.getSize();
    const scale = Math.min(2, window.devicePixelRatio || 1);
    this.scale = scale;
    if (this.canvas.width !== size.x * scale || this.canvas.height !== size.y * scale) {
      this.canvas.width = size.x * scale;
      this.canvas.height = size.y * scale;
      this.canvas.style.width = `${size.x}px`;
      this.canvas.style.height = `${size.y}px`;
      this.context.scale(scale, scale);
    }
    L.DomUtil.setPosition(this.canvas, this._map.containerPointToLayerPoint([0, 0]));
    this.drawNow();
  },

  /** Draw in the next frame, once however often it is asked for. */
  drawSoon() {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      if (this._map) this.drawNow();
    });
  },

  drawNow() {
    const size = this._map.getSize();
    this.context.clearRect(0, 0, size.x, size.y);
    this.paint(this.context, { ...viewOf(this._map), scale: this.scale });
  },
});

/** Where the world is on the canvas: one multiplication and addition per coordinate. */
export function viewOf(map) {
  const size = map.getSize();
  const world = 256 * 2 ** map.getZoom();
  const corner = map.getPixelBounds().min;
  return {
    width: size.x,
    height: size.y,
    world,
    left: corner.x,
    top: corner.y,
    x: (lon) => mercatorX(lon) * world - corner.x,
    y: (lat) => mercatorY(lat) * world - corner.y,
    /** Pixels per metre at a latitude. */
    perMetre: (lat) => world / (40_030_229 * Math.cos((lat * Math.PI) / 180)),
  };
}

export const mercatorX = (lon) => (lon + 180) / 360;

export function mercatorY(lat) {
  const sine = Math.sin((Math.max(-85.05, Math.min(85.05, lat)) * Math.PI) / 180);
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
}
