// What stands around a heatmap's cells and changes seldom: the hatch below them, the frame, the tokens' names.

import { hatch } from "../shared/surface.js";
import { drawRowSums } from "../head/sums.js";
import { labelStep, SLANT } from "../shared/token_labels.js";

/** @import { Cells, HeatmapDrawing } from "./heatmap_drawing.js" */

/**
 * @param {HeatmapDrawing} heatmap
 * @param {CanvasRenderingContext2D} context
 * @param {Cells} c
 */
export function drawAxes(heatmap, context, c) {
  const { theme, header, hasMasked, sums } = heatmap.view.drawn;
  const { x, y, w, h } = heatmap.plot;
  if (hasMasked) {
    context.fillStyle = hatch(context, theme, header.colours.masked);
    context.fillRect(x, y, w, h);
  }
  context.strokeStyle = theme.border;
  context.lineWidth = 1;
  context.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
  drawLabels(heatmap, context, c);
  if (sums !== null) drawRowSums(context, heatmap.plot, c, heatmap.view.drawn, sums.rows);
}

/**
 * @param {HeatmapDrawing} heatmap
 * @param {CanvasRenderingContext2D} context
 * @param {Cells} c
 */
function drawLabels(heatmap, context, c) {
  const { theme, labelsQ, labelsK } = heatmap.view.drawn;
  const font = `${heatmap.font}px ${theme.font}`;
  context.font = font;
  context.fillStyle = theme.text;
  context.textBaseline = "middle";
  context.globalAlpha = 0.9;
  const stepQ = labelStep(c.h, heatmap.font + 2);
  context.textAlign = "right";
  const [cutQ, cutK] = [labelsQ, labelsK].map((labels) => labels.cutter(context, heatmap.room, font));
  for (let q = Math.ceil(c.q0 / stepQ) * stepQ; q < Math.min(c.nq, c.q0 + c.span.q); q += stepQ) {
    const y = heatmap.plot.y + (q + 0.5 - c.q0) * c.h;
    if (y < heatmap.plot.y - 1 || y > heatmap.plot.y + heatmap.plot.h) continue;
    context.fillText(cutQ(q).text, heatmap.plot.x - 6, y);
  }
  const need = heatmap.flat && c.w > 30 ? 1 : heatmap.font + 2;
  const stepK = labelStep(c.w, need);
  for (let k = Math.ceil(c.k0 / stepK) * stepK; k < Math.min(c.nk, c.k0 + c.span.k); k += stepK) {
    const x = heatmap.plot.x + (k + 0.5 - c.k0) * c.w;
    if (x < heatmap.plot.x - 1 || x > heatmap.plot.x + heatmap.plot.w) continue;
    columnLabel(heatmap, context, cutK(k).text, x);
  }
  context.globalAlpha = 1;
}

/**
 * @param {HeatmapDrawing} heatmap
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} x
 */
function columnLabel(heatmap, context, text, x) {
  if (heatmap.flat) {
    context.textAlign = "center";
    context.fillText(text, x, heatmap.plot.y - 10);
    return;
  }
  context.save();
  context.translate(x, heatmap.plot.y - 6);
  context.rotate(-SLANT);
  context.textAlign = "left";
  context.fillText(text, 0, 0);
  context.restore();
}
