// What is written over a heatmap's cells: their numbers, where a second sentence begins, and what is lit: rows and columns
// of tokens, the cell, their labels as pills, the box that a drag draws.

import { inkOn, toRgb } from "../shared/colour.js";
import { letterSize } from "../scene/text_width.js";
import { formatFixed, formatTypeset } from "../shared/numbers.js";
import { MASKED_16 } from "../shared/packing.js";
import { clipTo, drawWith, fillBox, outline, strokeGrid } from "../shared/surface.js";
import {
  aboveColumn,
  clearAround,
  drawColumnLabel,
  drawPill,
  hideLabel,
  labelAxes,
  SLANT,
} from "../shared/token_labels.js";

/** @import { HeatmapScene } from "./heatmap_scene.js" */
/** @import { Axis, DrawingContext, Theme } from "../shared/types.js" */

/**
 * What is written over the cells, in this order. Each says what it changes with, besides the cells' places and the theme, or
 * null where there is none of it; it is drawn again when that has changed.
 * @type {{ of: (scene: HeatmapScene) => unknown, draw: (context: DrawingContext, scene: HeatmapScene) => void }[]}
 */
const MARKS = [
  {
    of: ({ cells, picture }) => (cells.w >= 24 && cells.h >= Math.max(13, letterSize(10)) ? picture : null),
    draw: drawNumbers,
  },
  { of: ({ segments }) => (segments.flat().length ? segments : null), draw: drawSegments },
  { of: ({ wanted }) => (wanted ? [...wanted] : null), draw: drawWanted },
];

/** What each mark changes with, null where there is none of it. @param {HeatmapScene} scene */
export function markKeys(scene) {
  return MARKS.map((mark) => mark.of(scene));
}

/** @param {DrawingContext} context @param {HeatmapScene} scene */
export function drawMarks(context, scene) {
  clipTo(context, scene.plot, 0);
  for (const mark of MARKS) if (mark.of(scene) !== null) mark.draw(context, scene);
  context.restore();
}

/** Pixels of a number in a cell, where labels are no larger. */
const PRINTED = 13;

/** The number of each cell. @param {DrawingContext} context @param {HeatmapScene} scene */
function drawNumbers(context, { theme, codes, table, valueAt, plot, cells: c, font, signed }) {
  const size = Math.floor(Math.min(Math.max(font, PRINTED), c.w / (signed ? 3.1 : 2.1), c.h * 0.66));
  const full = c.w >= 3.1 * size; // elsewhere no zero stands before the point, so that letters are not smaller
  drawWith(context, { font: `${size}px ${theme.font}`, textAlign: "center", textBaseline: "middle" });
  for (let q = Math.floor(c.q0); q < Math.min(c.nq, c.q0 + c.span.q); q++) {
    for (let k = Math.floor(c.k0); k < Math.min(c.nk, c.k0 + c.span.k); k++) {
      const code = codes[q * c.nk + k];
      if (code === MASKED_16) continue;
      const value = valueAt(q, k);
      context.fillStyle = inkOn(toRgb(table[code]));
      context.globalAlpha = Math.abs(value) < 0.005 ? 0.45 : 0.95;
      const text = Math.abs(value) >= 100 ? formatFixed(value, 0) : formatTypeset(value);
      context.fillText(
        full ? text : text.replace(/^(−?)0\.(?=\d)/, "$1."),
        plot.x + (k + 0.5 - c.k0) * c.w,
        plot.y + (q + 0.5 - c.q0) * c.h,
      );
    }
  }
  context.globalAlpha = 1;
}

/** Frames around the cells that heads are asked to look at, as wide as these count in their row. */
/** @param {DrawingContext} context @param {HeatmapScene} scene */
function drawWanted(context, { theme, plot, cells: c, wanted }) {
  if (!wanted) return;
  for (let q = 0; q < c.nq; q++) {
    const row = wanted.subarray(q * c.nk, (q + 1) * c.nk);
    const most = row.reduce((top, share) => Math.max(top, share), 0);
    row.forEach((share, k) => {
      if (share < 0.02 * most || share === 0) return;
      const box = { x: plot.x + (k - c.k0) * c.w, y: plot.y + (q - c.q0) * c.h, w: c.w, h: c.h };
      outline(context, box, theme.text, 1 + (2 * share) / most, theme.background);
    });
  }
}

/** Dashed lines where one sentence ends and the next begins. */
/** @param {DrawingContext} context @param {HeatmapScene} scene */
function drawSegments(context, { segments: [rows, columns], plot, cells: c }) {
  const heights = rows.map((q) => plot.y + (q - c.q0) * c.h);
  const places = columns.map((k) => plot.x + (k - c.k0) * c.w);
  context.setLineDash([5, 4]);
  drawWith(context, { strokeStyle: "#00000080", lineWidth: 3 });
  strokeGrid(context, plot, heights, places);
  drawWith(context, { strokeStyle: "#ffffff", lineWidth: 1.2 });
  strokeGrid(context, plot, heights, places);
  context.setLineDash([]);
}

/** Whether anything is lit. @param {HeatmapScene} scene */
export function isLit({ lit, cell, guess, box }) {
  return lit.length > 0 || [cell, guess, box].some((one) => one !== null);
}

/** @param {DrawingContext} context @param {HeatmapScene} scene */
export function drawLit(context, scene) {
  const { plot, lit, cell, guess, hover, box, theme } = scene;
  clipTo(context, plot, 2);
  for (const { axis, i, pin } of lit) outlineToken(context, scene, axis, i, pin ? 2 : 1.5, pin ? 1 : 0.85);
  if (cell) outlineCell(context, scene, ...cell, 3);
  if (guess) outlineCell(context, scene, ...guess, 4, theme.primary);
  if (hover?.axis === "cell") outlineCell(context, scene, hover.q, hover.k, 2);
  context.restore();
  lightLabels(context, scene);
  if (box) drawBox(context, box, scene.theme);
}

/**
 * A whole row or column.
 * @param {DrawingContext} context @param {HeatmapScene} scene @param {Axis} axis
 * @param {number} i @param {number} width @param {number} alpha
 */
function outlineToken(context, { theme, plot, cells: c }, axis, i, width, alpha) {
  const { x, y, w, h } = plot;
  const out = Math.max(0, width - (axis === "q" ? c.h : c.w) / 8);
  const row = { x, y: y + (i - c.q0) * c.h - out, w, h: c.h + 2 * out };
  const column = { x: x + (i - c.k0) * c.w - out, y, w: c.w + 2 * out, h };
  context.globalAlpha = alpha;
  outline(context, axis === "q" ? row : column, theme[axis], width, theme.background);
  context.globalAlpha = 1;
}

/** @param {DrawingContext} context @param {HeatmapScene} scene @param {number} q @param {number} k @param {number} width */
function outlineCell(context, { theme, plot, cells: c }, q, k, width, colour = theme.text) {
  const cell = { x: plot.x + (k - c.k0) * c.w, y: plot.y + (q - c.q0) * c.h, w: c.w, h: c.h };
  outline(context, cell, colour, width, theme.background);
}

/** @param {DrawingContext} context @param {HeatmapScene} scene */
function lightLabels(context, { theme, colours, labelsQ, labelsK, lit, plot, cells: c, font, room, flat, need }) {
  context.font = `${font}px ${theme.font}`;
  const { rows, columns } = labelAxes(c, plot);
  for (const { axis, i } of lit) {
    if (axis === "q") {
      clearAround(rows, need, i, font + 2, (q, y) =>
        hideLabel(context, labelsQ.cut(q, room, font), plot.x - 6, y, "right", theme, font),
      );
    } else if (!flat) {
      clearAround(columns, need, i, (font + 2) / Math.sin(SLANT), (k, x) =>
        aboveColumn(context, x, plot.y, flat, () =>
          hideLabel(context, labelsK.cut(k, room, font), 0, 0, "left", theme, font),
        ),
      );
    }
  }
  for (const { axis, i } of lit) {
    if (axis === "q") {
      const y = plot.y + (i + 0.5 - c.q0) * c.h;
      if (y < plot.y || y > plot.y + plot.h) continue;
      drawPill(context, labelsQ.cut(i, room, font), plot.x - 6, y, "right", colours.q, theme, font);
      continue;
    }
    const x = plot.x + (i + 0.5 - c.k0) * c.w;
    if (x < plot.x || x > plot.x + plot.w) continue;
    const look = { colour: colours.k, theme, size: font };
    drawColumnLabel(context, labelsK.cut(i, room, font), x, plot.y, flat, look);
  }
}

/** @param {DrawingContext} context @param {[number, number, number, number]} box @param {Theme} theme */
function drawBox(context, [x0, y0, x1, y1], theme) {
  const box = { x: x0, y: y0, w: x1 - x0, h: y1 - y0 };
  fillBox(context, box, theme.primary, 0.15);
  context.strokeStyle = theme.primary;
  context.strokeRect(box.x, box.y, box.w, box.h);
}
