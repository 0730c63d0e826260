// What one token's new vector is made of: the largest weights of its row, each a line as thick as its weight; the end of a
// film.

import { textWidth } from "../scene/text_width.js";
import { formatPercent } from "../shared/numbers.js";
import { drawWith, roundedRect } from "../shared/surface.js";
import { cutToFit } from "../shared/token_labels.js";
import { strongestOf, tokenText } from "./head_readout.js";

/** @import { DrawingContext, Theme } from "../shared/types.js" */
/** @import { Numbers } from "./head_readout.js" */

/** @typedef {{ name: string, share: number, i: number | null }} MixturePart a word and its weight; no `i`: all others together */

/** Words that have a line of their own; all others together have one more. */
export const MOST_PARTS = 4;
/** Pixels of a line that carries all of the weight. */
export const THICKEST = 18;
/** Pixels of a line at least. */
export const THINNEST = 1;
/** Pixels that the picture takes in a file. */
export const MIXTURE_ROOM = 132;

/** The largest weights of a row in the order of the sentence, then all others together. */
/** @param {Numbers} numbers @param {string} others how they are called @returns {MixturePart[]} */
export function mixtureParts(numbers, others) {
  const all = strongestOf(numbers, { axis: "q", i: 0 }, Infinity).filter(({ value }) => value > 0);
  const first = all.slice(0, MOST_PARTS).sort((a, b) => a.i - b.i);
  /** @type {MixturePart[]} */
  const parts = first.map(({ axis, i, value }) => ({ name: tokenText(numbers, axis, i), share: value, i }));
  const rest = all.slice(MOST_PARTS).reduce((sum, { value }) => sum + value, 0);
  if (rest > 0.005) parts.push({ name: others, share: rest, i: null });
  return parts;
}

/**
 * Lines that pour from words into the token that is told of, each as thick as its weight.
 * @param {DrawingContext} context @param {MixturePart[]} parts @param {string} made what they become
 * @param {Theme} theme @param {number} width
 */
export function drawMixture(context, parts, made, theme, width) {
  const [top, bottom] = [46, 98];
  const slot = width / Math.max(1, parts.length);
  drawWith(context, { textAlign: "center", textBaseline: "middle" });
  parts.forEach(({ name, share }, at) => {
    const x = slot * (at + 0.5);
    drawWith(context, {
      strokeStyle: theme.weight,
      globalAlpha: 0.85,
      lineWidth: Math.max(THINNEST, THICKEST * share),
    });
    context.beginPath();
    context.moveTo(x, top);
    context.bezierCurveTo(x, top + 29, width / 2, top + 21, width / 2, bottom);
    context.stroke();
    drawWith(context, { globalAlpha: 1, fillStyle: theme.text, font: `15px ${theme.font}` });
    context.fillText(cutToFit(name, slot - 8, (text) => textWidth(text, 15)).text, x, 12);
    context.font = `600 13px ${theme.font}`;
    context.fillText(formatPercent(share, 0), x, 33);
  });
  const high = 26;
  const wide = textWidth(made, 15) + 24;
  context.fillStyle = theme.q;
  roundedRect(context, { x: width / 2 - wide / 2, y: bottom, w: wide, h: high }, 7);
  context.fill();
  drawWith(context, { fillStyle: theme.dark ? theme.background : "#ffffff", font: `15px ${theme.font}` });
  context.fillText(made, width / 2, bottom + high / 2);
}
