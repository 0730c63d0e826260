// A mask as a drawing knows it: its cells, names of rows and columns, what has no key left; where its cells are and which of
// them a gesture covers; and a mask as a figure. No page.

import { css, mixColours, toPixel, rgb } from "../shared/colour.js";
import { drawWith, fillBox, strokeGrid, writeText } from "../shared/surface.js";
import { drawColumnLabel, labelStep } from "../shared/token_labels.js";
import { COMPACT, measureLabels } from "../heatmap/heatmap_scene.js";
import { clamp } from "../shared/numbers.js";
import { layoutInFile, nameSides } from "../head/head_figure.js";
import { unpackBits } from "../shared/packing.js";
import { textWidth } from "../scene/text_width.js";

/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Colours, DrawingContext, MaskFigureHeader, Rectangle, Shape, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */

/**
 * @typedef {object} MaskScene
 * @property {Rectangle} plot
 * @property {number} cell pixels of a cell
 * @property {boolean} flat whether labels of columns stand side by side, without leaning
 * @property {number} font pixels of labels
 * @property {number} room pixels of the longest label
 * @property {Theme} theme
 * @property {Colours} colours
 * @property {Shape} shape
 * @property {Uint8Array} cells 1 = may look
 * @property {TokenLabels} labelsQ
 * @property {TokenLabels} labelsK
 */

/** The colour of a cell that may look: the theme's own, a little towards the background. @param {Theme} theme */
export function maskInk({ primary, background }) {
  return mixColours(rgb(primary), rgb(background), 0.18);
}

/** Whether a query may look at nothing. @param {MaskScene} scene @param {number} q */
export function isEmptyRow({ cells, shape: [, nk] }, q) {
  return !cells.subarray(q * nk, (q + 1) * nk).some(Boolean);
}

/** Pixels of a mask; nothing where no query may look. @param {MaskScene} scene */
export function maskPixels({ cells, theme }) {
  const solid = toPixel(maskInk(theme));
  return Uint32Array.from(cells, (open) => (open ? solid : 0));
}

/** Hatch, cells, and names beside them. */
/** @param {DrawingContext} context @param {MaskScene} scene @param {Uint32Array} [pixels] of the cells, on their way to others */
export function drawMask(context, scene, pixels = maskPixels(scene)) {
  const { plot, colours, theme, shape } = scene;
  context.hatch(plot, colours.masked, theme.dark);
  context.cells(pixels, shape[1], plot);
  drawMaskAxes(context, scene);
}

/** What stands over the cells and beside them. @param {DrawingContext} context @param {MaskScene} scene */
function drawMaskAxes(context, scene) {
  const { plot, cell, theme, shape, labelsQ, labelsK, font, room, flat } = scene;
  const [nq, nk] = shape;
  if (cell >= 5) {
    drawWith(context, { strokeStyle: theme.background, lineWidth: cell >= 12 ? 1 : 0.5 });
    const edges = (/** @type {number} */ from, /** @type {number} */ n) =>
      Array.from({ length: n + 1 }, (_, i) => from + i * cell);
    strokeGrid(context, plot, edges(plot.y, nq), edges(plot.x, nk));
  }
  drawWith(context, { font: `${font}px ${theme.font}`, textBaseline: "middle", textAlign: "right" });
  const stepQ = labelStep(cell, font + 2);
  for (let q = 0; q < nq; q++) {
    const empty = isEmptyRow(scene, q);
    context.fillStyle = empty ? theme.k : theme.text;
    if (q % stepQ === 0) context.fillText(labelsQ.cut(q, room, font).text, plot.x - 6, plot.y + (q + 0.5) * cell);
    if (empty) context.fillRect(plot.x - 4, plot.y + q * cell + 1, 3, Math.max(1, cell - 2));
  }
  context.fillStyle = theme.text;
  const stepK = labelStep(cell, flat ? 1 : font + 2);
  for (let k = 0; k < nk; k += stepK) {
    drawColumnLabel(context, labelsK.cut(k, room, font), plot.x + (k + 0.5) * cell, plot.y, flat);
  }
}

/**
 * Sizes for the width there is; `labelsQ` and `labelsK` are the widths of the widest labels. A compact grid has the cells
 * of a compact heatmap beside it.
 * @param {{ shape: Shape, width: number, font: number, labelsQ: number, labelsK: number, compact: boolean }} given
 */
export function maskLayout({ shape: [nq, nk], width, font, labelsQ, labelsK, compact }) {
  const largest = compact ? COMPACT.cell : 34;
  const { left, right, top, cell: most, flat } = measureLabels({ nk, width, font, labelsQ, labelsK }, largest);
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

const LEGEND = 28;

/** @param {MaskFigureHeader} header @param {Uint8Array} payload bits @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function maskFigure(header, payload, theme, bar) {
  const { shape, colours, words, title } = header;
  const { places, cell, width } = layoutInFile(header, 34);
  const { plot } = places;
  /** @type {MaskScene} */
  const scene = { ...places, cell, theme, colours, shape, cells: unpackBits(payload, shape[0] * shape[1]) };
  const end = plot.y + plot.h + 6;
  const second = plot.x + 20 + textWidth(words.kept, 12) + 16;
  const draw = (/** @type {SvgContext} */ context) => {
    nameSides(context, plot, theme, words);
    drawMask(context, scene);
    if (!bar) return;
    fillBox(context, { x: plot.x, y: end + 8, w: 14, h: 10 }, css(maskInk(theme)));
    context.hatch({ x: second, y: end + 8, w: 14, h: 10 }, colours.masked, theme.dark);
    writeText(context, words.kept, plot.x + 20, end + 13, theme, "12px");
    writeText(context, words.cut, second + 20, end + 13, theme, "12px");
  };
  const legend = second + 20 + textWidth(words.cut, 12) + 8;
  return {
    width: Math.ceil(Math.max(width, bar ? legend : 0)),
    height: Math.ceil(end + (bar ? LEGEND : 0)),
    title,
    draw,
  };
}
