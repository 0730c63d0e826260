// What lies over a heatmap's cells: their numbers where they are large, borders of sentences, and what is lit: rows and columns
// of tokens, the cell, their labels as pills, the box that a drag draws.

import { inkOn, rgbOf } from "../shared/colour.js";
import { valueAt } from "../head/head_readout.js";
import { fixed } from "../shared/numbers.js";
import { MASKED_16 } from "../shared/packing.js";
import { cleared, clipTo, drawWith, fillBox, outline, sized, strokeGrid } from "../shared/surface.js";
import { drawColumnLabel, drawPill } from "../shared/token_labels.js";

/** @import { Cells, HeatmapDrawing } from "./heatmap_drawing.js" */
/** @import { Axis, Theme } from "../shared/types.js" */

/** Whether cells are large enough for their numbers. @param {Cells} c */
export function hasNumbers(c) {
  return c.w >= 30 && c.h >= 13;
}

/** @param {HeatmapDrawing} heatmap @param {CanvasRenderingContext2D} context @param {Cells} c */
export function drawMarks(heatmap, context, c) {
  clipTo(context, heatmap.plot, 0);
  if (hasNumbers(c)) drawNumbers(heatmap, context, c);
  drawSegments(heatmap, context, c);
  context.restore();
}

/** @param {HeatmapDrawing} heatmap @param {CanvasRenderingContext2D} context @param {Cells} c */
function drawNumbers(heatmap, context, c) {
  const { theme, codes, table } = heatmap.view.drawn;
  const size = Math.min(13, Math.floor(c.w / 3.1), Math.floor(c.h * 0.66));
  drawWith(context, { font: `${size}px ${theme.font}`, textAlign: "center", textBaseline: "middle" });
  for (let q = Math.floor(c.q0); q < Math.min(c.nq, c.q0 + c.span.q); q++) {
    for (let k = Math.floor(c.k0); k < Math.min(c.nk, c.k0 + c.span.k); k++) {
      const code = codes[q * c.nk + k];
      if (code === MASKED_16) continue;
      const value = valueAt(heatmap.view.drawn, q, k);
      context.fillStyle = inkOn(rgbOf(table[code]));
      context.globalAlpha = Math.abs(value) < 0.005 ? 0.45 : 0.95;
      const text = Math.abs(value) >= 100 ? fixed(value, 0) : fixed(value, 2).replace("-", "−");
      context.fillText(text, heatmap.plot.x + (k + 0.5 - c.k0) * c.w, heatmap.plot.y + (q + 0.5 - c.q0) * c.h);
    }
  }
  context.globalAlpha = 1;
}

/** Dashed lines where one sentence ends and the next begins. */
/** @param {HeatmapDrawing} heatmap @param {CanvasRenderingContext2D} context @param {Cells} c */
function drawSegments(heatmap, context, c) {
  const [rows, columns] = heatmap.view.drawn.header.segments;
  const { plot } = heatmap;
  const heights = rows.map((q) => plot.y + (q - c.q0) * c.h);
  const places = columns.map((k) => plot.x + (k - c.k0) * c.w);
  context.setLineDash([5, 4]);
  drawWith(context, { strokeStyle: "#00000080", lineWidth: 3 });
  strokeGrid(context, plot, heights, places);
  drawWith(context, { strokeStyle: "#ffffff", lineWidth: 1.2 });
  strokeGrid(context, plot, heights, places);
  context.setLineDash([]);
}

/** Draws the overlay. @param {HeatmapDrawing} heatmap */
export function drawLit(heatmap) {
  const { theme, group } = heatmap.view.drawn;
  const lights = heatmap.view.lit();
  if (!lights.length && !group.cell && !heatmap.box) {
    cleared(heatmap.over);
    return;
  }
  const context = sized(heatmap.over, heatmap.width, heatmap.height);
  const c = heatmap.cells();
  clipTo(context, heatmap.plot, 2);
  for (const lit of lights) {
    outlineToken(heatmap, context, c, lit.axis, lit.i, lit.pin ? 2 : 1.5, lit.pin ? 1 : 0.85);
  }
  if (group.cell) outlineCell(heatmap, context, c, ...group.cell, 3);
  if (group.hover?.axis === "cell") outlineCell(heatmap, context, c, group.hover.q, group.hover.k, 2);
  context.restore();
  lightLabels(heatmap, context, c);
  if (heatmap.box) drawBox(context, heatmap.box, theme);
}

/**
 * A whole row or column.
 * @param {HeatmapDrawing} heatmap @param {CanvasRenderingContext2D} context @param {Cells} c @param {Axis} axis
 * @param {number} i @param {number} width @param {number} alpha
 */
function outlineToken(heatmap, context, c, axis, i, width, alpha) {
  const { theme } = heatmap.view.drawn;
  const { x, y, w, h } = heatmap.plot;
  const out = Math.max(0, width - (axis === "q" ? c.h : c.w) / 8);
  const row = { x, y: y + (i - c.q0) * c.h - out, w, h: c.h + 2 * out };
  const column = { x: x + (i - c.k0) * c.w - out, y, w: c.w + 2 * out, h };
  context.globalAlpha = alpha;
  outline(context, axis === "q" ? row : column, theme[axis], width, theme.background);
  context.globalAlpha = 1;
}

/**
 * @param {HeatmapDrawing} heatmap @param {CanvasRenderingContext2D} context @param {Cells} c @param {number} q
 * @param {number} k @param {number} width
 */
function outlineCell(heatmap, context, c, q, k, width) {
  const { text, background } = heatmap.view.drawn.theme;
  const { x, y } = heatmap.plot;
  const cell = { x: x + (k - c.k0) * c.w, y: y + (q - c.q0) * c.h, w: c.w, h: c.h };
  outline(context, cell, text, width, background);
}

/** @param {HeatmapDrawing} heatmap @param {CanvasRenderingContext2D} context @param {Cells} c */
function lightLabels(heatmap, context, c) {
  const { theme, header, labelsQ, labelsK } = heatmap.view.drawn;
  const { plot, font } = heatmap;
  context.font = `${font}px ${theme.font}`;
  for (const { axis, i } of heatmap.view.lit()) {
    if (axis === "q") {
      const y = plot.y + (i + 0.5 - c.q0) * c.h;
      if (y < plot.y || y > plot.y + plot.h) continue;
      drawPill(context, labelsQ.cut(context, i, heatmap.room), plot.x - 6, y, "right", header.colours.q, theme, font);
      continue;
    }
    const x = plot.x + (i + 0.5 - c.k0) * c.w;
    if (x < plot.x || x > plot.x + plot.w) continue;
    const lit = { colour: header.colours.k, theme, size: font };
    drawColumnLabel(context, labelsK.cut(context, i, heatmap.room), x, plot.y, heatmap.flat, lit);
  }
}

/** @param {CanvasRenderingContext2D} context @param {[number, number, number, number]} box @param {Theme} theme */
function drawBox(context, [x0, y0, x1, y1], theme) {
  const box = { x: x0, y: y0, w: x1 - x0, h: y1 - y0 };
  fillBox(context, box, theme.primary, 0.15);
  context.strokeStyle = theme.primary;
  context.strokeRect(box.x, box.y, box.w, box.h);
}
