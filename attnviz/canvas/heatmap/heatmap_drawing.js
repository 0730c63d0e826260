// The matrix as drawn, on a canvas for each thing that changes by itself: the cells, what stands around them, what is written
// over them, their sums, what is lit. Only what has changed is drawn again: each canvas touched is one that the browser copies.

import { attribute, el, property } from "../shared/dom.js";
import { drawAxes, drawColumnSums, rowSumTexts } from "./heatmap_axes.js";
import { cellsOnShow, heatmapHit, heatmapLayout, SUMS } from "./heatmap_geometry.js";
import { drawLit, drawMarks, hasNumbers } from "./heatmap_marks.js";
import { strongestOfBlocks } from "../shared/packing.js";
import { contextOf, notePlot, pixelCanvas, sized, stageOf } from "../shared/surface.js";
import { LONGEST_LABEL } from "../shared/token_labels.js";
import { placeOn, sharpness } from "../shared/window.js";

/** @import { HeadView } from "../head/head.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Rectangle } from "../shared/types.js" */
/** @typedef {ReturnType<typeof cellsOnShow>} Cells */

/** Pixels of labels that are presented: 14 of a projector's at least, because such a page is magnified. */
export const PRESENTED = 13;

export class HeatmapDrawing {
  /** @param {HeadView} view */
  constructor(view) {
    this.view = view;
    this.stage = stageOf("av-stage av-heat", "heatmap", "help");
    this.picture = new HeatmapCells(view);
    this.base = el("canvas");
    this.marks = el("canvas", "av-over");
    this.below = el("canvas", "av-below");
    this.over = el("canvas", "av-over");
    this.stage.append(this.picture.box, this.base, this.marks, this.below, this.over);
    /** @type {WeakMap<HTMLCanvasElement, { how: string, labelsQ: TokenLabels, labelsK: TokenLabels }>} what each canvas shows */
    this.shown = new WeakMap();
    this.font = 12;
    /** pixels of a row or column whose label is written */
    this.need = 13;
    this.room = LONGEST_LABEL;
    this.flat = true;
    this.width = 0;
    this.height = 0;
    /** @type {Rectangle} */
    this.plot = { x: 0, y: 0, w: 0, h: 0 };
    /** @type {[number, number, number, number] | null} the box that a drag has drawn: x0, y0, x1, y1 */
    this.box = null;
  }

  /**
   * Sizes of labels and plot, for the room there is.
   * @param {number} width
   * @param {number | null} high what is left of the window, null where it does not matter
   * @param {boolean} presented larger, and every cell square
   */
  layout(width, high, presented) {
    const { header, theme, labelsQ, labelsK } = this.view.drawn;
    const { compact, shape } = header;
    this.font = compact ? 10 : presented ? PRESENTED : 12;
    this.need = Math.min(this.font + 1, PRESENTED);
    this.room = Math.min(compact ? 64 : LONGEST_LABEL, width * 0.26);
    const context = contextOf(this.base);
    const font = `${this.font}px ${theme.font}`;
    const [wideQ, wideK] = [labelsQ, labelsK].map((labels) => labels.width(context, this.room, font));
    const widths = { labelsQ: wideQ, labelsK: wideK };
    const sums = header.edit !== null && !compact;
    Object.assign(this, heatmapLayout({ shape, width, compact, font: this.font, ...widths, high, sums, presented }));
    notePlot(this.stage, this.plot);
  }

  cells() {
    const { header, group } = this.view.drawn;
    return cellsOnShow(this.plot, group.zoom, header.shape);
  }

  draw() {
    const { painting } = this.view.controls;
    const { plot, stage } = this;
    const c = this.cells();
    this.picture.draw(plot, c);
    this.drawAxes(c);
    this.drawMarks(c);
    this.drawSums(c);
    const touch = c.z > 1 || painting ? "none" : "pan-y";
    if (stage.style.touchAction !== touch) stage.style.touchAction = touch;
    stage.classList.toggle("av-painting", painting);
    attribute(stage, "data-zoom", [c.z, c.q0, c.k0].map((v) => v.toFixed(3)).join(","));
  }

  /** Whether a canvas has to be drawn again: it shows something else than this, or has another size. */
  /** @param {HTMLCanvasElement} canvas @param {Cells} c @param {unknown[]} what */
  isOther(canvas, c, what) {
    const { theme, labelsQ, labelsK } = this.view.drawn;
    const { width, height, plot, room, font, flat } = this;
    const how = JSON.stringify([width, height, sharpness(canvas), plot, room, font, flat, c, theme, what]);
    const shown = this.shown.get(canvas);
    if (shown?.how === how && shown.labelsQ === labelsQ && shown.labelsK === labelsK) return false;
    this.shown.set(canvas, { how, labelsQ, labelsK });
    return true;
  }

  /** @param {Cells} c */
  drawAxes(c) {
    const { hasMasked, header, sums, words } = this.view.drawn;
    const written = sums === null ? null : rowSumTexts(sums.rows, c);
    if (!this.isOther(this.base, c, [hasMasked, header.colours.masked, written, words.sums])) return;
    drawAxes(this, sized(this.base, this.width, this.height), c);
  }

  /** @param {Cells} c */
  drawMarks(c) {
    const { header, picture, tableKey } = this.view.drawn;
    const numbers = hasNumbers(c);
    property(this.marks, "hidden", !numbers && header.segments.every((side) => side.length === 0));
    if (this.marks.hidden) return;
    if (!this.isOther(this.marks, c, [header.segments, numbers && [picture, tableKey]])) return;
    drawMarks(this, sized(this.marks, this.width, this.height), c);
  }

  /** What columns get in all, on a canvas as low as its bars. @param {Cells} c */
  drawSums(c) {
    const { sums } = this.view.drawn;
    property(this.below, "hidden", sums === null);
    if (sums === null) return;
    const bottom = this.plot.y + this.plot.h;
    const top = `${Math.floor(bottom)}px`;
    if (this.below.style.top !== top) this.below.style.top = top;
    const context = sized(this.below, this.width, SUMS.high + 4);
    context.translate(0, bottom - Math.floor(bottom));
    drawColumnSums(context, this.plot, c, this.view.drawn, sums.cols);
  }

  /** Draws what is lit, if that has changed. */
  light() {
    const { group } = this.view.drawn;
    const { pins, hover, cell } = group;
    if (this.isOther(this.over, this.cells(), [pins, hover, cell, this.box])) drawLit(this);
  }

  /** What lies under a pointer. @param {{ clientX: number, clientY: number }} event */
  hit(event) {
    const { header, group } = this.view.drawn;
    const [x, y] = placeOn(this.stage, event);
    return heatmapHit(x, y, this.plot, group.zoom, header.shape);
  }
}

export class HeatmapCells {
  /** @param {HeadView} view */
  constructor(view) {
    this.view = view;
    this.box = el("div", "av-cells");
    this.canvas = el("canvas");
    this.box.append(this.canvas);
    /** what the canvas shows */
    this.painted = "";
  }

  /** @param {Rectangle} plot @param {Cells} c */
  draw(plot, c) {
    const pixels = Math.min(c.w, c.h) * sharpness(this.box);
    let step = 1; // cells that a pixel stands for along one side: one, or when zoomed out the strongest of 2x2, 4x4...
    while (pixels * step < 0.75) step *= 2;
    this.paint(step);
    place(this.box, plot.x, plot.y, plot.w, plot.h);
    const { width, height } = this.canvas;
    place(this.canvas, -c.k0 * c.w, -c.q0 * c.h, width * step * c.w, height * step * c.h);
  }

  /** @param {number} step */
  paint(step) {
    const { codes, table, tableKey, header, picture } = this.view.drawn;
    const wanted = `${picture}|${tableKey}|${step}`;
    if (this.painted === wanted) return;
    this.painted = wanted;
    const blocks = strongestOfBlocks(codes, header.shape, step, header.signed);
    const fillIn = (/** @type {Uint32Array} */ pixels) => {
      for (let i = 0; i < pixels.length; i++) pixels[i] = table[blocks.codes[i]];
    };
    pixelCanvas(blocks.columns, blocks.rows, fillIn, this.canvas);
  }
}

/** Puts an element at a place of the box around it; one that stands there already is left alone. */
/** @param {HTMLElement} element @param {number} x @param {number} y @param {number} w @param {number} h */
function place({ style, dataset }, x, y, w, h) {
  const [left, top, width, height] = [x, y, w, h].map((v) => `${v.toFixed(3)}px`);
  const where = [left, top, width, height].join();
  if (dataset.place === where) return;
  dataset.place = where;
  Object.assign(style, { left, top, width, height });
}
