// A tile larger, beside the mosaic: the floating preview of the head that is pointed at.

import { el } from "../shared/dom.js";
import { tilePixels } from "./mosaic_scene.js";
import { drawWith, sizeCanvas } from "../shared/surface.js";
import { alongAxis, tokenLabels } from "../shared/token_labels.js";
import { magnification } from "../shared/window.js";

/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Overview } from "./overview.js" */

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
    const small = globalThis.innerWidth < 560;
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
   * Beside the mosaic if the window has room there, else beside the tile, else under or above it. In the browser's
   * top layer, so that no column cuts it off.
   * @param {number} i
   */
  place(i) {
    const panel = this.box;
    if (!this.popped) panel.showPopover?.();
    this.popped = true;
    panel.classList.add("av-on");
    const { places, tw, th } = this.overview.mosaic;
    const by = magnification(panel);
    const stage = this.overview.scroll.getBoundingClientRect();
    const inner = this.overview.stage.getBoundingClientRect();
    const [x, y] = [inner.left / by + places[i][0], inner.top / by + places[i][1]];
    const { offsetWidth: w, offsetHeight: h } = panel;
    const [innerWidth, innerHeight] = [globalThis.innerWidth / by, globalThis.innerHeight / by];
    const edge = Math.min(stage.right, inner.right) / by + 12;
    const right = edge + w < innerWidth - 8 ? edge : x + tw + 12;
    const spots = [right, x - w - 12].filter((left) => left >= 8 && left + w <= innerWidth - 8);
    const within = (/** @type {number} */ v, /** @type {number} */ most) => Math.max(8, Math.min(most - 8, v));
    const under = y + th + 10 + h < innerHeight ? y + th + 10 : y - h - 10;
    const left = spots.length ? spots[0] : within(x + tw / 2 - w / 2, innerWidth - w);
    panel.style.left = `${left}px`;
    panel.style.top = `${spots.length ? within(y + th / 2 - h / 2, innerHeight - h) : under}px`;
  }

  hide() {
    this.box.classList.remove("av-on");
    if (this.popped) this.box.hidePopover?.();
    this.popped = false;
  }
}
