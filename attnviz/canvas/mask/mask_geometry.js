// Where the cells of a mask are, and which of them a gesture covers.

import { COMPACT, roomOfLabels } from "../heatmap/heatmap_geometry.js";
import { clamp } from "../shared/numbers.js";

/** @import { Rectangle, Shape } from "../shared/types.js" */

/**
 * Sizes for the width there is; `labelsQ` and `labelsK` are the widths of the widest labels. A compact grid has the cells
 * of a compact heatmap beside it.
 * @param {{ shape: Shape, width: number, font: number, labelsQ: number, labelsK: number, compact: boolean }} given
 */
export function maskLayout({ shape: [nq, nk], width, font, labelsQ, labelsK, compact }) {
  const largest = compact ? COMPACT.cell : 34;
  const { left, right, top, cell: most, flat } = roomOfLabels({ nk, width, font, labelsQ, labelsK }, largest);
  const cell = Math.min(most, compact ? COMPACT.high / nq : Math.max(6, 640 / nq));
  const plot = { x: left, y: top, w: cell * nk, h: cell * nq };
  return { plot, cell, flat, width: Math.ceil(left + plot.w + right), height: Math.ceil(top + plot.h + 4) };
}

/**
 * The cell at a point of the stage; -1 stands for the label beside a row or above a column.
 * @param {number} px @param {number} py @param {Rectangle} plot @param {Shape} shape @returns {[number, number] | null}
 */
export function maskHit(px, py, plot, [nq, nk]) {
  const q = Math.max(-1, Math.floor(((py - plot.y) / plot.h) * nq));
  const k = Math.max(-1, Math.floor(((px - plot.x) / plot.w) * nk));
  return q >= nq || k >= nk || (q < 0 && k < 0) ? null : [q, k];
}

/** The cell nearest to a point. */
/** @param {number} px @param {number} py @param {Rectangle} plot @param {Shape} shape @returns {[number, number]} */
export function nearestCell(px, py, plot, [nq, nk]) {
  const q = Math.floor(((py - plot.y) / plot.h) * nq);
  const k = Math.floor(((px - plot.x) / plot.w) * nk);
  return [clamp(q, 0, nq - 1), clamp(k, 0, nk - 1)];
}

/** The cells of the box between two corners. */
/** @param {[number, number]} from @param {[number, number]} to @returns {[number, number][]} */
export function cellsOfBox([q0, k0], [q1, k1]) {
  /** @type {[number, number][]} */
  const cells = [];
  for (let q = Math.min(q0, q1); q <= Math.max(q0, q1); q++) {
    for (let k = Math.min(k0, k1); k <= Math.max(k0, k1); k++) cells.push([q, k]);
  }
  return cells;
}

/** The cells, by number, of a whole row [q, -1] or column [-1, k]. */
/** @param {[number, number]} label @param {Shape} shape */
export function cellsOfLine([q, k], [nq, nk]) {
  if (q >= 0) return Array.from({ length: nk }, (_, j) => q * nk + j);
  return Array.from({ length: nq }, (_, j) => j * nk + k);
}
