// What is seen of a step of training, as the page and a file say and colour it. No page.

import { lossOf } from "./forward.js";
import { fill } from "../shared/dom.js";
import { fixed, grouped, percent } from "../shared/numbers.js";

/** @import { BirthHeader, BirthSizes, Words } from "../shared/types.js" */
/** @import { Pass } from "./forward.js" */

/** Pixels that a word beside a small picture needs. */
const LINE = 10.5;

/** Pixels of a head's weights; nothing where a word may not look. */
/** @param {Float32Array} weights @param {number} length @param {BirthSizes} sizes @param {Uint32Array} steps of the colours */
export function headPixels(weights, length, { causal }, steps) {
  const at = (/** @type {number} */ weight) => steps[Math.round(weight * 255)];
  return Uint32Array.from(weights, (weight, i) => (causal && i % length > i / length ? 0 : at(weight)));
}

/** What stands below a head's name: the larger of its scores, or that it is silenced. */
/** @param {{ previous: number, induction: number }} scores @param {boolean} silenced @param {Words} words */
export function headText({ previous, induction }, silenced, words) {
  if (silenced) return words.silenced;
  const larger = previous < induction ? words.score_induction : words.score_previous;
  return fill(larger, { previous: fixed(previous, 2), induction: fixed(induction, 2) });
}

/** What stands below each word of the second copy, and whether it is predicted. The first cannot be. @param {Pass} pass */
export function guesses({ likely, right }) {
  const half = (likely.length + 1) / 2;
  return Array.from({ length: half }, (_none, i) => {
    const good = i > 0 && right[half + i - 1];
    return { text: i ? `${good ? "✓" : "✗"} ${percent(likely[half + i - 1])}` : "—", good };
  });
}

/** The sentence about a step. @param {Pass} pass @param {number} step @param {Words} words */
export function passSentence(pass, step, words) {
  const half = (pass.likely.length + 1) / 2;
  const right = pass.right.slice(half).filter(Boolean).length;
  return fill(words.said, { step: grouped(step), right, of: half - 1, loss: fixed(lossOf(pass.likely), 2) });
}

/** Every how many of so many words one is written beside a picture of this height. */
/** @param {number} count @param {number} high */
export function labelsApart(count, high) {
  return Math.ceil((LINE * count) / Math.max(high, LINE));
}

/** The colour of a head. @param {BirthHeader["colours"]} colours @param {number} head @param {boolean} dark */
export function headColour({ heads }, head, dark) {
  return heads[head % heads.length][Number(dark)];
}
