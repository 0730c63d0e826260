// A row of weights as bars: from 0 to 1, with a dashed line where even weights would end. No page: the same function draws on
// screen and in files.

import { fixed } from "../shared/numbers.js";
import { drawWith, fillBox, strokePath } from "../shared/surface.js";

/** @import { DrawingContext, Theme } from "../shared/types.js" */

/**
 * @typedef {object} BarsScene
 * @property {number} width
 * @property {number} height
 * @property {Float64Array} weights
 * @property {string} colour
 * @property {Pick<Theme, "text" | "font">} theme
 * @property {number | null} pointed the bar that is pointed at
 */

export const LEFT = 30;
/** Pixels of a bar that has room for its number, by which one near 0 is seen to be there. */
const NUMBER = 36;
const TOP = 8;
const FOOT = 6;

/** Which bar a point of the canvas is over, null beside them. */
/** @param {number} x @param {number} width @param {number} n */
export function barAt(x, width, n) {
  const at = Math.floor(((x - LEFT) / (width - LEFT - 2)) * n);
  return at >= 0 && at < n ? at : null;
}

/** How thick a bar is when each has `step` pixels. @param {number} step */
export function barThickness(step) {
  const gap = step > 6 ? Math.min(6, step * 0.18) : step > 3 ? 1 : 0;
  return Math.min(step - gap, 72);
}

/** The largest weight of each pixel column, where there are more bars than columns. */
/** @param {Float64Array} weights @param {number} columns */
export function largestOfColumns(weights, columns) {
  const most = new Float64Array(Math.ceil(columns));
  weights.forEach((weight, i) => {
    const at = Math.floor((i * columns) / weights.length);
    if (weight > most[at]) most[at] = weight;
  });
  return most;
}

/** @param {DrawingContext} context @param {BarsScene} scene */
export function drawBars(context, { width, height, weights, colour, theme, pointed }) {
  const inner = width - LEFT - 2;
  const tall = height - FOOT - TOP;
  const y = (/** @type {number} */ weight) => TOP + tall * (1 - weight);
  drawWith(context, { font: `11px ${theme.font}`, textAlign: "right", textBaseline: "middle" });
  for (const level of [0, 0.5, 1]) {
    drawWith(context, { globalAlpha: 0.7, fillStyle: theme.text });
    context.fillText(String(level), LEFT - 6, y(level));
    fillBox(context, { x: LEFT, y: Math.round(y(level)), w: inner, h: 1 }, theme.text, level ? 0.18 : 0.6);
  }
  context.fillStyle = colour;
  const n = weights.length;
  const step = inner / n;
  const bar = (/** @type {number} */ x, /** @type {number} */ thick, /** @type {number} */ weight) =>
    context.fillRect(x, y(weight), thick, Math.max(0.5, y(0) - y(weight)));
  if (step >= 2) {
    const thick = barThickness(step);
    weights.forEach((weight, i) => bar(LEFT + (i + 0.5) * step - thick / 2, thick, weight));
  } else {
    largestOfColumns(weights, inner).forEach((weight, x) => bar(LEFT + x, 1, weight));
  }
  if (pointed !== null && pointed < n && step >= 2) {
    fillBox(context, { x: LEFT + pointed * step, y: TOP, w: step, h: tall }, theme.text, 0.12);
  }
  if (step >= NUMBER) {
    drawWith(context, { fillStyle: theme.text, textAlign: "center" });
    weights.forEach((weight, i) => context.fillText(fixed(weight, 3), LEFT + (i + 0.5) * step, y(weight) - 7));
  }
  drawWith(context, { globalAlpha: 0.75, strokeStyle: theme.text, lineWidth: 1 });
  context.setLineDash([4, 4]);
  strokePath(context, [LEFT, y(1 / n)], [LEFT + inner, y(1 / n)]);
  context.setLineDash([]);
  context.globalAlpha = 1;
}
