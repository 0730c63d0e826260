// Fields to draw digits in, 32 pixels a side as in the data set. Python hears of a drawing when a stroke ends.

import { View, viewComponent } from "../shared/component.js";
import { ARROWS, isPress } from "../shared/controls.js";
import { addButton, createBox, el, fill, liveRegion } from "../shared/dom.js";
import { clamp } from "../shared/numbers.js";
import { ROLES } from "../shared/roles.js";
import { decodeBase64, packBits, unpackBits } from "../shared/packing.js";
import { sizeCanvas } from "../shared/surface.js";

/** @import { Component, DrawingContext, PadHeader } from "../shared/types.js" */

/** @typedef {{ cells: Uint8Array, pen: [number, number] | null, isDown: boolean }} PadScene `pen`: in pixels of the drawing */

/** Pixels of a side, as in the data set. */
const SIDE = 32;
const INK = 0xff1a1614;
/** Pixels from the middle of a stroke to its edge: strokes of the data set are five to seven of its 32 pixels wide. */
const REACH = 2.8;
/** Where the keyboard's pen begins. @type {[number, number]} */
const MIDDLE = [SIDE / 2, SIDE / 2];

/** @param {DrawingContext} context @param {PadScene} scene @param {number} size of a side, where it is drawn */
function drawPad(context, { cells, pen, isDown }, size) {
  const pixels = Uint32Array.from(cells, (on) => on && INK);
  context.cells(pixels, SIDE, { x: 0, y: 0, w: size, h: size });
  if (!pen) return;
  const one = size / SIDE;
  const [x, y] = pen.map((at) => Math.floor(at) * one);
  context.fillStyle = isDown ? ROLES.changed : ROLES.reference;
  context.fillRect(x - one, y, 3 * one, one);
  context.fillRect(x, y - one, one, 3 * one);
}

class Pad {
  /** @param {HTMLElement} host @param {string} name @param {PadHeader["labels"]} labels @param {() => void} ended */
  constructor(host, name, labels, ended) {
    this.cells = new Uint8Array(SIDE * SIDE);
    const attributes = { role: "application", tabindex: "0", "aria-label": name, "data-testid": "pad" };
    this.canvas = el("canvas", "dp-ink", null, attributes);
    this.labels = labels;
    this.live = liveRegion();
    /** @type {[number, number] | null} the pen that arrow keys move, in pixels of the drawing */
    this.pen = null;
    this.isDown = false;
    /** @type {[number, number] | null} */
    this.last = null;
    this.ended = ended;
    const box = createBox("dp-pad", this.canvas, this.live);
    addButton(box, labels.clear, labels.clear, () => {
      this.cells.fill(0);
      this.draw();
      ended();
    });
    host.append(box);
    this.canvas.addEventListener("pointerdown", (e) => {
      this.canvas.setPointerCapture(e.pointerId);
      this.last = this.at(e);
      this.line(this.last, this.last);
    });
    this.canvas.addEventListener("pointermove", (e) => {
      if (!this.last) return;
      const now = this.at(e);
      this.line(this.last, now);
      this.last = now;
    });
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    this.canvas.addEventListener("blur", () => this.putAway());
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => this.lift());
  }

  /** Arrow keys move the pen, Space sets it down and lifts it, Escape puts it away. @param {KeyboardEvent} event */
  key(event) {
    const way = ARROWS[event.key];
    if (way) this.movePen(way, event.shiftKey ? 4 : 1);
    else if (isPress(event)) this.pressPen();
    else if (event.key === "Escape" && this.pen) this.putAway();
    else return;
    event.preventDefault();
  }

  /** @param {[number, number]} way @param {number} by */
  movePen([dy, dx], by) {
    const from = this.pen ?? MIDDLE;
    /** @type {[number, number]} */
    const to = [clamp(from[0] + dx * by, 0.5, SIDE - 0.5), clamp(from[1] + dy * by, 0.5, SIDE - 0.5)];
    this.pen = to;
    if (this.isDown) this.line(from, to);
    this.draw();
    this.tellPen();
  }

  pressPen() {
    this.pen ??= MIDDLE;
    this.isDown = !this.isDown;
    if (this.isDown) this.line(this.pen, this.pen);
    else this.ended();
    this.draw();
    this.tellPen();
  }

  putAway() {
    const { isDown } = this;
    this.pen = null;
    this.isDown = false;
    this.draw();
    if (isDown) this.ended();
  }

  tellPen() {
    if (!this.pen) return;
    const [column, row] = this.pen.map((at) => Math.floor(at) + 1);
    this.live.textContent = fill(this.isDown ? this.labels.drawing : this.labels.lifted, { row, column });
  }

  lift() {
    if (!this.last) return;
    this.last = null;
    this.ended();
  }

  /** A point of the pointer in pixels of the drawing. @param {PointerEvent} event @returns {[number, number]} */
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * SIDE, ((event.clientY - box.top) / box.height) * SIDE];
  }

  /** Inks a line as wide as a pen. @param {[number, number]} from @param {[number, number]} to */
  line([x0, y0], [x1, y1]) {
    const steps = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) * 2));
    for (let i = 0; i <= steps; i++) this.dot(x0 + ((x1 - x0) * i) / steps, y0 + ((y1 - y0) * i) / steps);
    this.draw();
  }

  /** @param {number} x @param {number} y */
  dot(x, y) {
    for (let row = Math.max(0, Math.floor(y - REACH)); row <= Math.min(SIDE - 1, Math.ceil(y + REACH)); row++) {
      const last = Math.min(SIDE - 1, Math.ceil(x + REACH));
      for (let column = Math.max(0, Math.floor(x - REACH)); column <= last; column++) {
        if (Math.hypot(column + 0.5 - x, row + 0.5 - y) <= REACH) this.cells[row * SIDE + column] = 1;
      }
    }
  }

  draw() {
    const size = this.canvas.clientWidth;
    if (size) drawPad(sizeCanvas(this.canvas, size, size, false), this, size);
  }

  /** Whether a stroke has begun and not ended: an answer that comes meanwhile knows nothing of it. */
  get isDrawnOn() {
    return this.last !== null || this.isDown;
  }

  get drawing() {
    return this.cells.some((on) => on === 1) ? packBits(this.cells) : "";
  }

  /** @param {string} drawing */
  set drawing(drawing) {
    const bytes = decodeBase64(drawing);
    this.cells = bytes.length === (SIDE * SIDE) / 8 ? unpackBits(bytes, SIDE * SIDE) : new Uint8Array(SIDE * SIDE);
    this.draw();
  }
}

/** @extends {View<PadHeader>} */
class DigitPads extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {Pad[]} */
    this.pads = [];
    this.built = "";
  }

  /** @param {Component} component */
  async show(component) {
    const { header } = this.receive(component);
    const name = JSON.stringify([header.pads, header.labels]);
    if (name !== this.built) this.build(header);
    this.built = name;
    if (this.gestures.isBehind(header.session, header.ack)) return;
    this.pads.forEach((pad, i) => {
      if (!pad.isDrawnOn && pad.drawing !== (header.drawings[i] ?? "")) pad.drawing = header.drawings[i] ?? "";
    });
  }

  resize() {
    for (const pad of this.pads) pad.draw();
  }

  /** @param {PadHeader} header */
  build({ pads, labels }) {
    const row = el("div", "av-wrap dp-pads");
    this.pads = Array.from({ length: pads }, (_, i) => {
      return new Pad(row, fill(labels.pad, { number: i + 1 }), labels, () => this.tell());
    });
    this.root.replaceChildren(row, el("div", "av-small dp-help", labels.help));
    this.resize();
  }

  tell() {
    this.tellPython("drawn", { drawings: this.pads.map((pad) => pad.drawing) });
  }
}

export default viewComponent(DigitPads);
