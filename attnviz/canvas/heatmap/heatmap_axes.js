// What stands around a heatmap's cells: the hatch below them, the frame, the tokens' names, and what rows and columns add up to:
// a row gives 1 in all, a column gets what it gets.

import { SUMS } from "./heatmap_geometry.js";
import { fixed } from "../shared/numbers.js";
import { textWidth } from "../scene/text_width.js";
import { drawWith } from "../shared/surface.js";
import { alongAxis, drawColumnLabel, labelStep } from "../shared/token_labels.js";

/** @import { Cells } from "./heatmap_geometry.js" */
/** @import { HeatmapScene } from "./heatmap_scene.js" */
/** @import { DrawingContext } from "../shared/types.js" */

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
  const rows = { n: c.nq, first: c.q0, span: c.span.q, cell: c.h, from: plot.y };
  alongAxis(rows, need, (q, y) => context.fillText(labelsQ.cut(q, room, font).text, plot.x - 6, y));
  const columns = { n: c.nk, first: c.k0, span: c.span.k, cell: c.w, from: plot.x };
  const each = flat && c.w > 30 ? 1 : need;
  alongAxis(columns, each, (k, x) => drawColumnLabel(context, labelsK.cut(k, room, font), x, plot.y, flat));
  context.globalAlpha = 1;
}

const FONT = 10;

/** Whether columns are wide enough for the numbers of their sums. @param {Cells} c */
function areWritten(c) {
  return c.w >= 24;
}

/**
 * Bars of what columns get, and their numbers where they fit; the context begins where the plot ends.
 * @param {DrawingContext} context @param {HeatmapScene} scene @param {Float32Array} sums
 */
export function drawColumnSums(context, { plot, cells: c, theme }, sums) {
  const most = sums.reduce((top, sum) => Math.max(top, sum), 0) || 1;
  const written = areWritten(c);
  if (written) {
    // on a page that has just been written on, a font costs a look at all its styles
    drawWith(context, { font: `${FONT}px ${theme.font}`, textBaseline: "middle", textAlign: "center" });
  }
  for (let k = Math.floor(c.k0); k < Math.min(c.nk, c.k0 + c.span.k); k++) {
    const from = Math.max(plot.x, plot.x + (k - c.k0) * c.w);
    const to = Math.min(plot.x + plot.w, plot.x + (k + 1 - c.k0) * c.w);
    if (to <= from) continue;
    const high = (sums[k] / most) * (written ? 8 : SUMS.high - 6);
    context.fillStyle = theme.k;
    context.globalAlpha = 0.55;
    context.fillRect(from + Math.min(1, c.w / 8), 3, Math.max(0.5, to - from - Math.min(2, c.w / 4)), high);
    if (!written) continue;
    context.globalAlpha = 0.85;
    context.fillStyle = theme.text;
    context.fillText(fixed(sums[k], sums[k] < 99.5 ? 2 : 0), (from + to) / 2, 18);
  }
  context.globalAlpha = 1;
}

/**
 * The numbers beside the rows, as far as there is room for them.
 * @param {Float32Array} sums @param {Cells} c
 * @returns {[number, string][]} each with its row
 */
export function rowSumTexts(sums, c) {
  const step = labelStep(c.h, FONT + 1);
  /** @type {[number, string][]} */
  const found = [];
  for (let q = Math.ceil(c.q0 / step) * step; q < Math.min(c.nq, c.q0 + c.span.q); q += step) {
    found.push([q, fixed(sums[q], 2)]);
  }
  return found;
}

/** The numbers beside the rows, and what the sums below the columns are called. */
/** @param {DrawingContext} context @param {HeatmapScene} scene @param {Float32Array} sums */
export function drawRowSums(context, { plot, cells: c, theme, words }, sums) {
  drawWith(context, { font: `${FONT}px ${theme.font}`, textBaseline: "middle", globalAlpha: 0.7 });
  drawWith(context, { fillStyle: theme.text, textAlign: "right" });
  const before = Math.max(plot.x - 6, textWidth(words.sums, FONT)); // beside short words there is less room
  context.fillText(words.sums, before, plot.y + plot.h + (areWritten(c) ? 18 : 9));
  context.textAlign = "left";
  for (const [q, text] of rowSumTexts(sums, c)) {
    context.fillText(text, plot.x + plot.w + 6, plot.y + (q + 0.5 - c.q0) * c.h);
  }
  context.globalAlpha = 1;
}
