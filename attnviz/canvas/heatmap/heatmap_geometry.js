// Where the heatmap's cells and labels are.

import { clamp } from "../shared/numbers.js";
import { SLANT } from "../shared/token_labels.js";
import { spans } from "../shared/zoom.js";

/** @import { Hit, Rectangle, Shape, Zoom } from "../shared/types.js" */
/** @typedef {ReturnType<typeof cellsOnShow>} Cells */

/** Room beside the plot for what rows and columns sum to. */
export const SUMS = { wide: 34, high: 24 };
/** What stands beside others: font, longest label, largest cell and tallest plot, in pixels. */
export const COMPACT = { font: 10, room: 64, cell: 40, high: 340 };
/** A cell that is low for want of room may be so many times as wide, unless it is presented. */
const WIDEST_CELL = 2.8;

/**
 * Room for labels beside rows and above columns, which lean where they do not fit side by side, and how large square
 * cells can be between them.
 * @param {{ nk: number, width: number, font: number, labelsQ: number, labelsK: number }} given
 * @param {number} most pixels of a cell
 * @param {number} [beside] pixels that something else takes at the right
 */
export function roomOfLabels({ nk, width, font, labelsQ, labelsK }, most, beside = 0) {
  const left = Math.ceil(labelsQ) + 10;
  const upright = Math.min(most, (width - left - 6 - beside) / nk);
  if (labelsK + 6 <= upright) return { left, right: 6 + beside, top: font + 12, cell: upright, flat: true };
  const leaning = labelsK * Math.cos(SLANT) - upright / 2 + 4;
  const right = Math.min(Math.max(6 + beside, leaning), width * 0.16);
  const top = Math.ceil(labelsK * Math.sin(SLANT)) + 14;
  return { left, right, top, cell: Math.min(most, (width - left - right) / nk), flat: false };
}

/**
 * Sizes of plot and stage for the room there is. Cells are square, but where the window is too low for that they are
 * wider than high.
 * @param {object} given @param {Shape} given.shape @param {number} given.width
 * @param {number | null} [given.high] the height that the stage may have, null where it does not matter
 * @param {boolean} given.compact @param {number} given.font
 * @param {number} given.labelsQ the width of the widest label
 * @param {number} given.labelsK
 * @param {boolean} [given.sums] whether sums of rows and columns stand beside the plot
 * @param {boolean} [given.presented]
 */
export function heatmapLayout({ shape, width, high = null, compact, font, labelsQ, labelsK, sums, presented }) {
  const [nq, nk] = shape;
  const foot = sums ? SUMS.high : 0;
  const given = { nk, width, font, labelsQ, labelsK };
  const { left, right, top, cell, flat } = roomOfLabels(given, compact ? COMPACT.cell : 60, sums ? SUMS.wide : 0);
  const usual = compact ? COMPACT.high : 620;
  const tallest = high === null ? usual : clamp(high - top - foot - 4, 120, 900);
  const cellH = Math.max(Math.min(cell, tallest / nq), Math.min(14, tallest / nq));
  const squareH = Math.min(cell, tallest / nq);
  const squareW = high === null ? squareH : Math.min(cell, squareH * (presented ? 1 : WIDEST_CELL));
  const plot = { x: left, y: top, w: (nq === nk ? squareW : cell) * nk, h: (nq === nk ? squareH : cellH) * nq };
  return { plot, flat, width: Math.ceil(left + plot.w + right), height: Math.ceil(top + plot.h + foot + 4) };
}

/** Sizes of a cell, and which cells are on show. @param {Rectangle} plot @param {Zoom} zoom @param {Shape} shape */
export function cellsOnShow(plot, zoom, shape) {
  const [nq, nk] = shape;
  const span = spans(zoom, shape);
  return { nq, nk, w: plot.w / span.k, h: plot.h / span.q, z: zoom.z, q0: zoom.q0, k0: zoom.k0, span };
}

/**
 * What lies at a point of the stage: a cell, a row label, a column label, or nothing.
 * @param {number} px @param {number} py @param {Rectangle} plot @param {Zoom} zoom @param {Shape} shape
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
  if (inX && (py < plot.y || (py > plot.y + plot.h && py <= plot.y + plot.h + SUMS.high))) return { axis: "k", i: ki };
  return null;
}
