// The pen on the large picture: digits in fields of 32 pixels a side, as in the data set. Python hears of them while they grow.

import { ARROWS } from "../shared/controls.js";
import { fill, liveRegion } from "../shared/dom.js";
import { clamp } from "../shared/numbers.js";
import { decodeBase64, packBits, unpackBits } from "../shared/packing.js";
import { drawWith, fillBox, strokeGrid } from "../shared/surface.js";
import { ROLES } from "../shared/roles.js";
import { fitFrame, FLOOR, LEFT, PEN_SIDE as SIDE } from "./patch_scene.js";

/** @import { PatchView } from "./patch_view.js" */
/** @import { DrawingContext, Rectangle } from "../shared/types.js" */
/** @typedef {[number, number]} Point in pixels of the fields, which stand side by side */

/** Pixels from the middle of a stroke to its edge: strokes of the data set are five to seven of its 32 pixels wide. */
const REACH = 2.8;
/** Ink and paper, dimmed as a picture is under its discs. */
const [INK, PAPER] = [FLOOR, Math.round(255 * LEFT + FLOOR)];

export class PatchPen {
  /** @param {PatchView} view */
  constructor(view) {
    this.view = view;
    /** @type {Uint8Array[]} */
    this.fields = [];
    this.live = liveRegion();
    /** @type {Point | null} where a hand draws just now */
    this.last = null;
    /** @type {Point | null} the pen that arrow keys move */
    this.at = null;
    this.isDown = false;
    this.told = "";
  }

  /** Whether a stroke has begun and not ended: an answer that comes meanwhile knows nothing of it. */
  get isAtWork() {
    return this.last !== null || this.isDown;
  }

  get drawings() {
    return this.fields.map((cells) => (cells.some((on) => on === 1) ? packBits(cells) : ""));
  }

  /** Takes the drawings that have come, but not out of a hand. @param {string[] | null} drawings @param {boolean} behind */
  take(drawings, behind) {
    const { header, state } = this.view;
    if (!behind && !this.isAtWork) {
      this.fields = Array.from({ length: header.pads }, (_none, i) => {
        const bytes = decodeBase64(drawings?.[i] ?? "");
        return bytes.length === SIDE ** 2 / 8 ? unpackBits(bytes, SIDE ** 2) : new Uint8Array(SIDE ** 2);
      });
    } else if (header.pads === this.fields.length) state.drawings = this.drawings;
    if (this.isAtWork && !behind) this.tell();
  }

  /** Says what is drawn, once the last has been answered or a stroke has ended. */
  tell(ends = false) {
    const { gestures } = this.view;
    const drawings = this.drawings;
    const isNew = JSON.stringify(drawings) !== this.told;
    const ready = isNew && (ends || gestures.heard === gestures.sent);
    if (ready) this.told = JSON.stringify(drawings);
    this.view.change({ drawings, hidden: [] }, ready);
  }

  clear() {
    for (const cells of this.fields) cells.fill(0);
    this.tell(true);
  }

  /** A point of the large picture in pixels of the fields. @param {MouseEvent} event @returns {Point} */
  under({ clientX, clientY }) {
    const box = this.view.large.getBoundingClientRect();
    const unit = SIDE / box.height;
    return [(clientX - box.left) * unit, (clientY - box.top) * unit];
  }

  /** Inks a line as wide as a pen. @param {Point} to @param {Point} [from] */
  line(to, [x0, y0] = this.last ?? to) {
    const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - x0, to[1] - y0) * 2));
    for (let i = 0; i <= steps; i++) this.dot(x0 + ((to[0] - x0) * i) / steps, y0 + ((to[1] - y0) * i) / steps);
    this.tell();
  }

  /** @param {number} x @param {number} y */
  dot(x, y) {
    const field = clamp(Math.floor(x / SIDE), 0, this.fields.length - 1);
    const [left, cells] = [x - field * SIDE, this.fields[field]];
    for (let row = Math.max(0, Math.floor(y - REACH)); row <= Math.min(SIDE - 1, Math.ceil(y + REACH)); row++) {
      for (let column = Math.max(0, Math.floor(left - REACH)); column <= Math.min(SIDE - 1, left + REACH); column++) {
        if (Math.hypot(column + 0.5 - left, row + 0.5 - y) <= REACH) cells[row * SIDE + column] = 1;
      }
    }
  }

  lift() {
    this.last = null;
    this.isDown = false;
    this.tell(true);
  }

  /** Arrow keys move the pen, Space sets it down and lifts it, Escape puts it away. @param {KeyboardEvent} event */
  key(event) {
    const way = ARROWS[event.key];
    const from = this.at ?? [(SIDE * this.fields.length) / 2, SIDE / 2];
    if (way) {
      const by = event.shiftKey ? 4 : 1;
      this.at = [
        clamp(from[0] + way[1] * by, 0.5, SIDE * this.fields.length - 0.5),
        clamp(from[1] + way[0] * by, 0.5, SIDE - 0.5),
      ];
      if (this.isDown) this.line(this.at, from);
    } else if (event.key === " ") {
      this.at = from;
      this.isDown = !this.isDown;
      if (this.isDown) this.line(from);
      else this.lift();
    } else if (event.key === "Escape" && this.at) {
      this.at = null;
      if (this.isDown) this.lift();
    } else return false;
    if (this.at) {
      const { pressed, lifted } = this.view.header.labels;
      const [column, row] = this.at.map((at) => Math.floor(at) + 1);
      this.live.textContent = fill(this.isDown ? pressed : lifted, { row, column });
    }
    this.view.redraw();
    return true;
  }

  /** Where the model's squares lie over what is drawn: those with ink come first, as the model gets them. */
  /** @param {number} side of a field on screen @returns {Rectangle[]} */
  frames(side) {
    const unit = side / SIDE;
    const fields = this.fields.map((cells, i) => ({ i, frame: fitFrame(cells) }));
    const inked = fields.filter(({ frame }) => frame);
    return [...inked, ...fields.filter(({ frame }) => !frame)].map(({ i, frame }) => {
      const { x, y, w } = frame ?? { x: 0, y: 0, w: SIDE };
      return { x: (i * SIDE + x) * unit, y: y * unit, w: w * unit, h: w * unit };
    });
  }

  /** The ink, and the edges of the squares. @param {DrawingContext} context @param {Rectangle} place @param {Rectangle[]} frames */
  paint(context, { w, h }, frames) {
    fillBox(context, { x: 0, y: 0, w, h }, `rgb(${PAPER} ${PAPER} ${PAPER})`);
    const colour = 0xff000000 | (INK << 16) | (INK << 8) | INK;
    this.fields.forEach((cells, i) => {
      context.cells(
        Uint32Array.from(cells, (on) => (on ? colour : 0)),
        SIDE,
        { x: i * h, y: 0, w: h, h },
      );
      if (i) fillBox(context, { x: Math.round(i * h), y: 0, w: 1, h }, "#ffffff", 0.8);
    });
    drawWith(context, { strokeStyle: "#ffffff", globalAlpha: 0.35, lineWidth: 1 });
    for (const frame of frames) {
      const lines = Array.from({ length: 9 }, (_none, i) => (i * frame.w) / 8);
      strokeGrid(context, frame, lines.map((at) => frame.y + at), lines.map((at) => frame.x + at)); // prettier-ignore
    }
    context.globalAlpha = 1;
  }

  /** The pen of the keyboard. @param {DrawingContext} context @param {number} side of a field on screen */
  mark(context, side) {
    if (!this.at) return;
    const one = side / SIDE;
    const [x, y] = this.at.map((at) => Math.floor(at) * one);
    const colour = this.isDown ? ROLES.changed : ROLES.reference;
    fillBox(context, { x: x - one, y, w: 3 * one, h: one }, colour);
    fillBox(context, { x, y: y - one, w: one, h: 3 * one }, colour);
  }
}
