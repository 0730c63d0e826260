// A tile larger, beside the mosaic: the floating preview of the head that is pointed at.

import { el } from "../shared/dom.js";
import { tilePixels } from "./mosaic_scene.js";
import { drawWith, sizeCanvas } from "../shared/surface.js";
import { alongAxis, tokenLabels } from "../shared/token_labels.js";
import { magnification } from "../shared/window.js";

/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Overview } from "./overview.js" */
/** @import { Rectangle } from "../shared/types.js" */

export class Preview {
  /** @param {Overview} overview */
  constructor(overview) {
    this.overview = overview;
    this.box = el("div", "av-preview", null, { "aria-hidden": "true", popover: "manual" });
    this.title = el("div", "av-strong av-preview-title");
    this.note = el("div", "av-small av-preview-note");
    this.canvas = el("canvas");
    this.box.append(this.title, this.canvas, this.note);
    this.popped = false;
    /** @type {{ q: string[], sides: TokenLabels[] } | null} */
    this.labels = null;
  }

  /** @param {number} i */
  show(i) {
    const { overview } = this;
    const { header, theme, codes } = overview.shown;
    this.title.textContent = overview.name(i);
    this.note.textContent = overview.note(i);
    const [h, w] = header.shape;
    const { q } = header;
    const k = header.k ?? q;
    const small = globalThis.innerWidth < 560 || overview.isBeside();
    const side = small ? 150 : 208;
    const font = 10;
    const room = small ? 44 : 62;
    if (this.labels?.q !== q) this.labels = { q, sides: tokenLabels(header) };
    const [rows, columns] = this.labels.sides;
    const [left, top] = [rows, columns].map((labels) => Math.ceil(Math.min(room, labels.width(room, font))) + 6);
    const [dw, dh] = w >= h ? [side, Math.max(side / 2, (side * h) / w)] : [Math.max(side / 2, (side * w) / h), side];
    const context = sizeCanvas(this.canvas, left + dw + 2, top + dh + 2);
    const table = tilePixels(header, theme);
    const pixels = Uint32Array.from(codes.subarray(i * h * w, (i + 1) * h * w), (code) => table[code]);
    context.cells(pixels, w, { x: left, y: top, w: dw, h: dh });
    drawWith(context, { font: `${font}px ${theme.font}`, fillStyle: theme.text, globalAlpha: 0.85 });
    drawWith(context, { textBaseline: "middle", textAlign: "right" });
    const axis = (/** @type {number} */ n, /** @type {number} */ from, /** @type {number} */ size) =>
      ({ n, first: 0, span: n, cell: size / n, from }); // prettier-ignore
    alongAxis(axis(q.length, top, dh), font + 2, (r, y) => context.fillText(rows.cut(r, room, font).text, left - 4, y));
    context.textAlign = "left";
    alongAxis(axis(k.length, left, dw), font + 2, (c, x) => {
      context.save();
      context.translate(x, top - 4);
      context.rotate(-Math.PI / 2);
      context.fillText(columns.cut(c, room, font).text, 0, 0);
      context.restore();
    });
    context.globalAlpha = 1;
    this.place(i);
  }

  /**
   * Under or above the tile, or at its side, wherever it covers least of the head that was chosen: of its tile, and of the
   * large one beside all heads. In the browser's top layer, so that no column cuts it off.
   * @param {number} i
   */
  place(i) {
    const { box: panel, overview } = this;
    if (!this.popped) panel.showPopover?.();
    this.popped = true;
    panel.classList.add("av-on");
    const { places, tw, th } = overview.mosaic;
    const by = magnification(panel);
    const inner = overview.stage.getBoundingClientRect();
    const [left, top] = [inner.left / by, inner.top / by];
    const { offsetWidth: w, offsetHeight: h } = panel;
    const [innerWidth, innerHeight] = [globalThis.innerWidth / by, globalThis.innerHeight / by];
    const edge = Math.min(overview.scroll.getBoundingClientRect().right, inner.right) / by + 12;
    const [x, y] = [left + places[i][0], top + places[i][1]];
    const [cx, cy] = places[overview.chosen()];
    const chosen = [{ x: left + cx, y: top + cy, w: tw, h: th }];
    if (overview.isBeside()) chosen.push({ x: edge, y: 0, w: innerWidth, h: innerHeight });
    const within = (/** @type {number} */ v, /** @type {number} */ most) => Math.max(8, Math.min(most - 8, v));
    const middle = within(x + tw / 2 - w / 2, overview.isBeside() ? edge - w + 4 : innerWidth - w);
    const beside = within(y + th / 2 - h / 2, innerHeight - h);
    const spots =
      [[edge, beside], [middle, y + th + 10], [middle, y - h - 10], [x + tw + 12, beside], [x - w - 12, beside]] // prettier-ignore
        .map(([px, py]) => ({ x: px, y: py, w, h }))
        .map((spot) => {
          const outside = w * h - overlap(spot, { x: 8, y: 8, w: innerWidth - 16, h: innerHeight - 16 });
          return { spot, bad: 4 * outside + chosen.reduce((sum, place) => sum + overlap(spot, place), 0) };
        });
    const { spot } = spots.reduce((best, other) => (other.bad < best.bad ? other : best));
    panel.style.left = `${spot.x}px`;
    panel.style.top = `${within(spot.y, innerHeight - h)}px`;
  }

  hide() {
    this.box.classList.remove("av-on");
    if (this.popped) this.box.hidePopover?.();
    this.popped = false;
  }
}

/** Pixels that two places have in common. @param {Rectangle} a @param {Rectangle} b */
function overlap(a, b) {
  const [wide, high] = [
    Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x),
    Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y),
  ];
  return Math.max(0, wide) * Math.max(0, high);
}
