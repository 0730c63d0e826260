// Where the heatmap's cells and labels are.

import { clamp } from "./numbers.js";
import { SLANT } from "./token_labels.js";
import { spans } from "./zoom.js";

/** @import { Hit, Rectangle, Shape, Zoom } from "./types.js" */

/**
 * Sizes of plot and stage for the width there is.
 * @param {{ shape: Shape, width: number, compact: boolean, font: number, labelsQ: number, labelsK: number }} given
 *   `labelsQ` and `labelsK` are the widths of the widest labels
 */
export function heatmapLayout({ shape: [nq, nk], width, compact, font, labelsQ, labelsK }) {
  const left = Math.ceil(labelsQ) + 10;
  const tallest = compact ? 340 : 620;
  const most = compact ? 40 : 60;
  let right = 6;
  let cell = Math.min(most, (width - left - right) / nk);
  const flat = labelsK + 6 <= cell;
  if (!flat) {
    right = Math.min(Math.max(6, labelsK * Math.cos(SLANT) - cell / 2 + 4), width * 0.16);
    cell = Math.min(most, (width - left - right) / nk);
  }
  const top = flat ? font + 12 : Math.ceil(labelsK * Math.sin(SLANT)) + 14;
  const cellH = Math.max(Math.min(cell, tallest / nq), Math.min(14, tallest / nq));
  const cellW = nq === nk ? Math.min(cell, tallest / nq) : cell;
  const plot = { x: left, y: top, w: cellW * nk, h: (nq === nk ? cellW : cellH) * nq };
  return { plot, flat, width: Math.ceil(left + plot.w + right), height: Math.ceil(top + plot.h + 4) };
}

/**
 * Sizes of a cell, and which cells are on show.
 * @param {Rectangle} plot
 * @param {Zoom} zoom
 * @param {Shape} shape
 */
export function cellsOnShow(plot, zoom, shape) {
  const [nq, nk] = shape;
  const span = spans(zoom, shape);
  return { nq, nk, w: plot.w / span.k, h: plot.h / span.q, z: zoom.z, q0: zoom.q0, k0: zoom.k0, span };
}

/**
 * What lies at a point of the stage: a cell, a row label, a column label, or nothing.
 * @param {number} px
 * @param {number} py
 * @param {Rectangle} plot
 * @param {Zoom} zoom
 * @param {Shape} shape
 * @returns {Hit | null}
 */
export function heatmapHit(px, py, plot, zoom, shape) {
  const c = cellsOnShow(plot, zoom, shape);
  const [q, k] = [(py - plot.y) / c.h + c.q0, (px - plot.x) / c.w + c.k0];
  const inY = py >= plot.y && py < plot.y + plot.h;
  const inX = px >= plot.x && px < plot.x + plot.w;
  const [qi, ki] = [clamp(Math.floor(q), 0, c.nq - 1), clamp(Math.floor(k), 0, c.nk - 1)];
  if (inX && inY) return { axis: "cell", q: qi, k: ki, at: [q, k] };
  if (inY && px < plot.x) return { axis: "q", i: qi };
  if (inX && py < plot.y) return { axis: "k", i: ki };
  return null;
}
