// A heatmap as a drawing knows it: data, places and what is lit. It needs no page: on screen each layer has a canvas of its
// own, in a file all lie over each other.

import { letterSize, textWidth } from "../scene/text_width.js";
import { clamp, formatFixed } from "../shared/numbers.js";
import { strongestOfBlocks } from "../shared/packing.js";
import { drawWith } from "../shared/surface.js";
import { alongAxis, drawColumnLabel, labelAxes, labelStep, SLANT } from "../shared/token_labels.js";
import { visibleSpans } from "../shared/zoom.js";
import { drawLit, drawMarks, isLit } from "./heatmap_marks.js";

/** @import { Group } from "../shared/group.js" */
/** @import { DrawingContext, Drawn, HeadHeader, Hit, Pin, Rectangle, Shape, Zoom } from "../shared/types.js" */
/** @typedef {ReturnType<typeof visibleCells>} Cells */

/** Room beside the plot for what rows and columns sum to. */
export const SUMS = { wide: 34, high: 24 };
/** What stands beside others: font, longest label, largest cell and tallest plot, in pixels. */
export const COMPACT = { font: 10, room: 64, cell: 40, high: 340 };
/** A cell that is low for want of room may be so many times as wide. */
const WIDEST_CELL = 2.8;

/**
 * Room for labels beside rows and above columns, which lean where they do not fit side by side, and how large square
 * cells can be between them.
 * @param {{ nk: number, width: number, font: number, labelsQ: number, labelsK: number }} given
 * @param {number} most pixels of a cell
 * @param {number} [beside] pixels that something else takes at the right
 */
export function measureLabels({ nk, width, font, labelsQ, labelsK }, most, beside = 0) {
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
  const usual = compact ? COMPACT.high : 620;
  // presented, cells are no wider than goes with what the window leaves them high below labels that stand level
  const most = presented && high !== null ? Math.min(60, (WIDEST_CELL * (high - font - 12 - foot - 4)) / nq) : 60;
  const { left, right, top, cell, flat } = measureLabels(given, compact ? COMPACT.cell : most, sums ? SUMS.wide : 0);
  const tallest = high === null ? usual : clamp(high - top - foot - 4, 120, 900);
  const cellH = Math.max(Math.min(cell, tallest / nq), Math.min(14, tallest / nq));
  const squareH = Math.min(cell, tallest / nq);
  const squareW = high === null ? squareH : Math.min(cell, squareH * WIDEST_CELL);
  const plot = { x: left, y: top, w: (nq === nk ? squareW : cell) * nk, h: (nq === nk ? squareH : cellH) * nq };
  return { plot, flat, width: Math.ceil(left + plot.w + right), height: Math.ceil(top + plot.h + foot + 4) };
}

/** Sizes of a cell, and which cells are on show. @param {Rectangle} plot @param {Zoom} zoom @param {Shape} shape */
export function visibleCells(plot, zoom, shape) {
  const [nq, nk] = shape;
  const span = visibleSpans(zoom, shape);
  return { nq, nk, w: plot.w / span.k, h: plot.h / span.q, z: zoom.z, q0: zoom.q0, k0: zoom.k0, span };
}

/**
 * What lies at a point of the stage: a cell, a row label, a column label, or nothing.
 * @param {number} px @param {number} py @param {Rectangle} plot @param {Zoom} zoom @param {Shape} shape
 * @returns {Hit | null}
 */
export function hitHeatmap(px, py, plot, zoom, shape) {
  const c = visibleCells(plot, zoom, shape);
  const [q, k] = [(py - plot.y) / c.h + c.q0, (px - plot.x) / c.w + c.k0];
  const inY = py >= plot.y && py < plot.y + plot.h;
  const inX = px >= plot.x && px < plot.x + plot.w;
  const [qi, ki] = [clamp(Math.floor(q), 0, c.nq - 1), clamp(Math.floor(k), 0, c.nk - 1)];
  if (inX && inY) return { axis: "cell", q: qi, k: ki, at: [q, k] };
  if (inY && px < plot.x) return { axis: "q", i: qi };
  if (inX && (py < plot.y || (py > plot.y + plot.h && py <= plot.y + plot.h + SUMS.high))) return { axis: "k", i: ki };
  return null;
}

/** @param {DrawingContext} context @param {HeatmapScene} scene */
export function drawAxes(context, scene) {
  const { theme, colours, hasMasked, sums, plot } = scene;
  const { x, y, w, h } = plot;
  if (hasMasked) context.hatch(plot, colours.masked, theme.dark);
  drawWith(context, { strokeStyle: theme.border, lineWidth: 1 });
  context.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
  drawLabels(context, scene);
  if (sums !== null) drawRowSums(context, scene, sums.rows);
}

/** @param {DrawingContext} context @param {HeatmapScene} scene */
function drawLabels(context, { theme, labelsQ, labelsK, plot, cells: c, flat, font, room, need }) {
  drawWith(context, { font: `${font}px ${theme.font}`, fillStyle: theme.text, textBaseline: "middle" });
  drawWith(context, { globalAlpha: 0.9, textAlign: "right" });
  const { rows, columns } = labelAxes(c, plot);
  alongAxis(rows, need, (q, y) => context.fillText(labelsQ.cut(q, room, font).text, plot.x - 6, y));
  const each = flat && c.w > 30 ? 1 : need;
  alongAxis(columns, each, (k, x) => drawColumnLabel(context, labelsK.cut(k, room, font), x, plot.y, flat));
  context.globalAlpha = 1;
}

const FONT = 10;

/** Whether columns are wide enough for the numbers of their sums. @param {Cells} c */
function fitNumbers(c) {
  return c.w >= 2.4 * letterSize(FONT);
}

/** Bars of what columns get, and their numbers where they fit; the context begins where the plot ends. */
/** @param {DrawingContext} context @param {HeatmapScene} scene @param {Float32Array} sums */
export function drawColumnSums(context, { plot, cells: c, theme }, sums) {
  const most = sums.reduce((top, sum) => Math.max(top, sum), 0) || 1;
  const written = fitNumbers(c);
  if (written) {
    // on a page that has just been written on, a font costs a look at all its styles
    drawWith(context, { font: `${FONT}px ${theme.font}`, textBaseline: "middle", textAlign: "center" });
  }
  for (let k = Math.floor(c.k0); k < Math.min(c.nk, c.k0 + c.span.k); k++) {
    const from = Math.max(plot.x, plot.x + (k - c.k0) * c.w);
    const to = Math.min(plot.x + plot.w, plot.x + (k + 1 - c.k0) * c.w);
    if (to <= from) continue;
    const high = (sums[k] / most) * (written ? 8 : SUMS.high - 6);
    context.fillStyle = theme.weight;
    context.globalAlpha = 0.55;
    context.fillRect(from + Math.min(1, c.w / 8), 3, Math.max(0.5, to - from - Math.min(2, c.w / 4)), high);
    if (!written) continue;
    context.globalAlpha = 0.85;
    context.fillStyle = theme.text;
    context.fillText(formatFixed(sums[k], sums[k] < 99.5 ? 2 : 0), (from + to) / 2, 18);
  }
  context.globalAlpha = 1;
}

/**
 * The numbers beside the rows, as far as there is room for them: of rows that do not sum to 1, as softmax makes them.
 * @param {Float32Array} sums @param {Cells} c
 * @returns {[number, string][]} each with its row
 */
export function rowSumTexts(sums, c) {
  const step = labelStep(c.h, letterSize(FONT) + 1);
  /** @type {[number, string][]} */
  const found = [];
  for (let q = Math.ceil(c.q0 / step) * step; q < Math.min(c.nq, c.q0 + c.span.q); q += step) {
    found.push([q, formatFixed(sums[q], 2)]);
  }
  return found.filter(([, text]) => text !== "1.00");
}

/** The numbers beside the rows, and what the sums below the columns are called. */
/** @param {DrawingContext} context @param {HeatmapScene} scene @param {Float32Array} sums */
export function drawRowSums(context, { plot, cells: c, theme, words }, sums) {
  drawWith(context, { font: `${FONT}px ${theme.font}`, textBaseline: "middle", globalAlpha: 0.7 });
  drawWith(context, { fillStyle: theme.text, textAlign: "right" });
  const before = Math.max(plot.x - 6, textWidth(words.sums, FONT)); // beside short words there is less room
  context.fillText(words.sums, before, plot.y + plot.h + (fitNumbers(c) ? 18 : 9));
  context.textAlign = "left";
  for (const [q, text] of rowSumTexts(sums, c)) {
    context.fillText(text, plot.x + plot.w + 6, plot.y + (q + 0.5 - c.q0) * c.h);
  }
  context.globalAlpha = 1;
}

/**
 * Where the cells stand, and what is lit.
 * @typedef {object} HeatmapPlaces
 * @property {Rectangle} plot
 * @property {Cells} cells which are on show, and how large they are
 * @property {number} font pixels of labels
 * @property {number} need pixels of a row or column whose label is written
 * @property {number} room pixels of the longest label
 * @property {boolean} flat whether labels of columns stand side by side, without leaning
 * @property {string} picture names numbers and colours: another where any of them is another
 * @property {(q: number, k: number) => number} valueAt
 * @property {Float32Array | null} [wanted] what a visitor asks heads to do, (Q, K)
 * @property {(Pin & { pin: boolean })[]} lit
 * @property {[number, number, number, number] | null} box
 */
/** @typedef {"theme" | "words" | "codes" | "table" | "hasMasked" | "sums" | "labelsQ" | "labelsK"} Numbers of a head, and their names */
/** @typedef {Pick<HeadHeader, "colours" | "shape" | "signed" | "segments"> & Pick<Group, "cell" | "hover"> & { guess: [number, number] | null }} Chosen `guess`: the cell that somebody expected */
/** @typedef {HeatmapPlaces & Pick<Drawn, Numbers> & Chosen} HeatmapScene */

/** Pixels of a matrix, each the strongest of step x step cells. */
/** @param {HeatmapScene} scene @param {number} step */
export function cellPixels({ codes, table, shape, signed }, step) {
  const blocks = strongestOfBlocks(codes, shape, step, signed);
  const pixels = new Uint32Array(blocks.codes.length);
  for (let i = 0; i < pixels.length; i++) pixels[i] = table[blocks.codes[i]];
  return { ...blocks, pixels };
}

/** How many cells along a side share a pixel, where a cell has so many: one, or two, four... */
/** @param {number} pixels */
export function cellsOfPixel(pixels) {
  let step = 1;
  while (pixels * step < 0.75) step *= 2;
  return step;
}

/** The whole picture in one file. @param {DrawingContext} context @param {HeatmapScene} scene */
export function drawHeatmap(context, scene) {
  const { plot, sums, cells } = scene;
  drawAxes(context, scene);
  const { columns, pixels } = cellPixels(scene, cellsOfPixel(2 * Math.min(cells.w, cells.h)));
  context.cells(pixels, columns, plot);
  drawMarks(context, scene);
  if (sums !== null) {
    context.save();
    context.translate(0, plot.y + plot.h);
    drawColumnSums(context, scene, sums.cols);
    context.restore();
  }
  if (isLit(scene)) drawLit(context, scene);
}
