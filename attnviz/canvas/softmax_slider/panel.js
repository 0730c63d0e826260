// A row of weights with its name, its formula and its numbers: bars from 0 to 1, with a dashed line where even weights would
// end. No page: the same function draws on screen and in files.

import { rowFacts } from "./softmax.js";
import { drawWith, fillBox, strokePath, writeText } from "../shared/surface.js";
import { textWidth, wrapText } from "../scene/text_width.js";
import { formatFixed } from "../shared/numbers.js";

/** @import { DrawingContext, SoftmaxHeader, Theme } from "../shared/types.js" */
/** @typedef {ReturnType<typeof panelScene>} PanelScene */

/** A line of the name, what stands before it, and between it and the formula. */
const NAME = { line: 21, before: 19, gap: 9 };
/** A number below the bars, a line of what it is, pixels of both at least, and between two. */
const FACT = { number: 24, line: 17, least: 64, gap: 18 };

/** Lines that names and formulas take in panels of this width: one where each fits beside its own. */
/** @param {SoftmaxHeader["panels"]} panels @param {number} width */
export function countNameLines(panels, width) {
  if (panels.every(({ title, formula }) => nameWidth(title) + textWidth(formula, 13) <= width)) return 1;
  return 1 + Math.max(...panels.map(({ formula }) => wrapText(formula, width - NAME.before, 13).length));
}

/** @param {string} title */
function nameWidth(title) {
  return NAME.before + textWidth(title, 15, 600) + NAME.gap;
}

/**
 * @param {SoftmaxHeader["panels"][number]} panel @param {Float64Array} weights @param {SoftmaxHeader["words"]} words
 * @param {{ width: number, tall: number, lines: number }} size `tall`: pixels of the bars
 */
export function panelScene({ title, formula, colour }, weights, words, { width, tall, lines }) {
  const beside = { x: nameWidth(title), y: NAME.line / 2, lines: [formula] };
  const below = { x: NAME.before, y: 1.5 * NAME.line, lines: wrapText(formula, width - NAME.before, 13) };
  const wide = words.facts.map((name) => Math.max(FACT.least, textWidth(name, 12)) + FACT.gap);
  const most = (width - LEFT) / wide.length;
  const narrow = wide.reduce((sum, each) => sum + each, -FACT.gap) > width - LEFT;
  let x = LEFT;
  const facts = rowFacts(weights).map((value, i) => {
    const fact = { value, x, names: wrapText(words.facts[i], narrow ? most - 6 : Infinity, 12) };
    x += narrow ? most : wide[i];
    return fact;
  });
  const top = lines * NAME.line;
  const foot = FACT.number + FACT.line * Math.max(...facts.map(({ names }) => names.length));
  const height = top + tall + foot;
  return { title, formula: lines > 1 ? below : beside, colour, weights, facts, top, tall, width, height };
}

/**
 * @param {DrawingContext} context @param {PanelScene} scene @param {Pick<Theme, "text" | "font">} theme
 * @param {number | null} pointed the bar that is pointed at
 */
export function drawPanel(context, scene, theme, pointed) {
  const { title, formula, colour, weights, facts, top, tall, width } = scene;
  fillBox(context, { x: 0, y: NAME.line / 2 - 5.5, w: 11, h: 11 }, colour, 1, 3);
  writeText(context, title, NAME.before, NAME.line / 2, theme, "600 15px");
  formula.lines.forEach((line, n) =>
    writeText(context, line, formula.x, formula.y + n * NAME.line, theme, "13px", 0.75),
  );
  context.save();
  context.translate(0, top);
  drawBars(context, { width, height: tall, weights, colour, theme, pointed });
  context.restore();
  for (const { value, x, names } of facts) {
    writeText(context, value, x, top + tall + FACT.number / 2, theme, "600 18px");
    names.forEach((name, n) =>
      writeText(context, name, x, top + tall + FACT.number + FACT.line * (n + 0.5), theme, "12px", 0.8),
    );
  }
}

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
  for (const level of [0, 0.5, 1]) {
    writeText(context, String(level), LEFT - 6, y(level), theme, "11px", 0.7, "right");
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
    weights.forEach((weight, i) =>
      writeText(context, formatFixed(weight, 3), LEFT + (i + 0.5) * step, y(weight) - 7, theme, "11px", 1, "center"),
    );
  }
  drawWith(context, { globalAlpha: 0.75, strokeStyle: theme.text, lineWidth: 1 });
  context.setLineDash([4, 4]);
  strokePath(context, [LEFT, y(1 / n)], [LEFT + inner, y(1 / n)]);
  context.setLineDash([]);
  context.globalAlpha = 1;
}
