// A mask as a drawing knows it: its cells, names of rows and columns, what has no key left. No page.

import { mixed, pixelOf, rgb } from "../shared/colour.js";
import { drawWith, strokeGrid } from "../shared/surface.js";
import { drawColumnLabel, labelStep } from "../shared/token_labels.js";

/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Colours, DrawingContext, Rectangle, Shape, Theme } from "../shared/types.js" */

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
  return mixed(rgb(primary), rgb(background), 0.18);
}

/** Whether a query may look at nothing. @param {MaskScene} scene @param {number} q */
export function isEmptyRow({ cells, shape: [, nk] }, q) {
  return !cells.subarray(q * nk, (q + 1) * nk).some(Boolean);
}

/** Pixels of a mask; nothing where no query may look. @param {MaskScene} scene */
export function maskPixels({ cells, theme }) {
  const solid = pixelOf(maskInk(theme));
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
