// What is written over a heatmap's cells: their numbers where they are large, lines where one sentence ends and the next begins.

import { MASKED_16 } from "../shared/codes.js";
import { inkOnPixel } from "../shared/colour.js";
import { valueAt } from "../head/head_readout.js";

/** @import { Cells, HeatmapDrawing } from "./heatmap_drawing.js" */

/**
 * Whether cells are large enough for their numbers.
 * @param {Cells} c
 */
export function hasNumbers(c) {
  return c.w >= 30 && c.h >= 13;
}

/**
 * @param {HeatmapDrawing} heatmap
 * @param {CanvasRenderingContext2D} context
 * @param {Cells} c
 */
export function drawMarks(heatmap, context, c) {
  const { x, y, w, h } = heatmap.plot;
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  if (hasNumbers(c)) drawNumbers(heatmap, context, c);
  drawSegments(heatmap, context, c);
  context.restore();
}

/**
 * @param {HeatmapDrawing} heatmap
 * @param {CanvasRenderingContext2D} context
 * @param {Cells} c
 */
function drawNumbers(heatmap, context, c) {
  const { theme, codes, table } = heatmap.view.drawn;
  const size = Math.min(13, Math.floor(c.w / 3.1), Math.floor(c.h * 0.66));
  context.font = `${size}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let q = Math.floor(c.q0); q < Math.min(c.nq, c.q0 + c.span.q); q++) {
    for (let k = Math.floor(c.k0); k < Math.min(c.nk, c.k0 + c.span.k); k++) {
      const code = codes[q * c.nk + k];
      if (code === MASKED_16) continue;
      const value = valueAt(heatmap.view.drawn, q, k);
      context.fillStyle = inkOnPixel(table[code]);
      context.globalAlpha = Math.abs(value) < 0.005 ? 0.45 : 0.95;
      const text = Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2).replace("-", "−");
      context.fillText(text, heatmap.plot.x + (k + 0.5 - c.k0) * c.w, heatmap.plot.y + (q + 0.5 - c.q0) * c.h);
    }
  }
  context.globalAlpha = 1;
}

/**
 * Dashed lines where one sentence ends and the next begins.
 * @param {HeatmapDrawing} heatmap
 * @param {CanvasRenderingContext2D} context
 * @param {Cells} c
 */
function drawSegments(heatmap, context, c) {
  const [rows, columns] = heatmap.view.drawn.header.segments;
  const { x, y, w, h } = heatmap.plot;
  context.setLineDash([5, 4]);
  const strokes = /** @type {const} */ ([
    ["#00000080", 3],
    ["#ffffff", 1.2],
  ]);
  for (const [colour, width] of strokes) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    for (const q of rows) {
      context.moveTo(x, y + (q - c.q0) * c.h);
      context.lineTo(x + w, y + (q - c.q0) * c.h);
    }
    for (const k of columns) {
      context.moveTo(x + (k - c.k0) * c.w, y);
      context.lineTo(x + (k - c.k0) * c.w, y + h);
    }
    context.stroke();
  }
  context.setLineDash([]);
}
