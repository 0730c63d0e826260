// What a matrix's rows and columns add up to, beside it: a row gives 1 in all, a column gets what it gets.

import { SUMS } from "./heatmap_geometry.js";
import { labelStep } from "./token_labels.js";

/** @import { Cells } from "./heatmap_drawing.js" */
/** @import { Drawn, Rectangle } from "./types.js" */

const FONT = 10;

/**
 * Bars below the columns and numbers where they fit; numbers right of the rows.
 * @param {CanvasRenderingContext2D} context
 * @param {Rectangle} plot
 * @param {Cells} c
 * @param {Drawn} drawn
 */
export function drawSums(context, plot, c, { sums, theme, words }) {
  if (sums === null) return;
  const bottom = plot.y + plot.h;
  const most = sums.cols.reduce((top, sum) => Math.max(top, sum), 0) || 1;
  context.font = `${FONT}px ${theme.font}`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  const written = c.w >= 24;
  for (let k = Math.floor(c.k0); k < Math.min(c.nk, c.k0 + c.span.k); k++) {
    const from = Math.max(plot.x, plot.x + (k - c.k0) * c.w);
    const to = Math.min(plot.x + plot.w, plot.x + (k + 1 - c.k0) * c.w);
    if (to <= from) continue;
    const high = (sums.cols[k] / most) * (written ? 8 : SUMS.high - 6);
    context.fillStyle = theme.k;
    context.globalAlpha = 0.55;
    context.fillRect(from + Math.min(1, c.w / 8), bottom + 3, Math.max(0.5, to - from - Math.min(2, c.w / 4)), high);
    if (!written) continue;
    context.globalAlpha = 0.85;
    context.fillStyle = theme.text;
    context.fillText(sums.cols[k].toFixed(sums.cols[k] < 99.5 ? 2 : 0), (from + to) / 2, bottom + 18);
  }
  context.globalAlpha = 0.7;
  context.fillStyle = theme.text;
  context.textAlign = "right";
  context.fillText(words.sums, plot.x - 6, bottom + (written ? 18 : 9));
  context.textAlign = "left";
  const step = labelStep(c.h, FONT + 1);
  for (let q = Math.ceil(c.q0 / step) * step; q < Math.min(c.nq, c.q0 + c.span.q); q += step) {
    const y = plot.y + (q + 0.5 - c.q0) * c.h;
    context.fillText(sums.rows[q].toFixed(2), plot.x + plot.w + 6, y);
  }
  context.globalAlpha = 1;
}
