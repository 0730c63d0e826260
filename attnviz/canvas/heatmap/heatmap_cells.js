// A heatmap's cells: a canvas of one pixel a cell, which the browser enlarges. A weight that changes then costs a pixel, not
// a copy of the whole picture.

import { strongestOfBlocks } from "../shared/codes.js";
import { el } from "../shared/dom.js";
import { sharpness } from "../shared/magnified.js";
import { pixelCanvas } from "../shared/surface.js";

/** @import { HeadView } from "../head/head.js" */
/** @import { Cells } from "./heatmap_drawing.js" */
/** @import { Rectangle } from "../shared/types.js" */

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

  /**
   * @param {Rectangle} plot
   * @param {Cells} c
   */
  draw(plot, c) {
    const step = this.step(Math.min(c.w, c.h) * sharpness(this.box));
    this.paint(step);
    place(this.box, plot.x, plot.y, plot.w, plot.h);
    const { width, height } = this.canvas;
    place(this.canvas, -c.k0 * c.w, -c.q0 * c.h, width * step * c.w, height * step * c.h);
  }

  /**
   * How many cells a pixel stands for along one side: one, or when zoomed out the strongest of 2x2, 4x4...
   * @param {number} pixelsPerCell
   */
  step(pixelsPerCell) {
    let step = 1;
    while (pixelsPerCell * step < 0.75) step *= 2;
    return step;
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

/**
 * Puts an element at a place of the box around it; one that stands there already is left alone.
 * @param {HTMLElement} element
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 */
function place({ style, dataset }, x, y, w, h) {
  const [left, top, width, height] = [x, y, w, h].map((v) => `${v.toFixed(3)}px`);
  const where = [left, top, width, height].join();
  if (dataset.place === where) return;
  dataset.place = where;
  Object.assign(style, { left, top, width, height });
}
