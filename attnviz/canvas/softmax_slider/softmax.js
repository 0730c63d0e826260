// A softmax row in eight ways: raw, scaled by 1/sqrt(d), and six alternatives. Python computes the same in
// attnviz.pages.scaling.maths.alternatives; tests/js/softmax_cases.json holds the two together.

import { softmax } from "../shared/attend.js";
import { formatPercent, formatSignificant, toSignificant } from "../shared/numbers.js";

/** @import { ScoreRow, SliderParameter } from "../shared/types.js" */

/** @type {Record<string, (score: number, i: number, row: ScoreRow, parameter: number) => number>} */
const LOGITS = {
  raw: (score) => score,
  sqrt: (score, _i, { d }) => score / Math.sqrt(d),
  temperature: (score, _i, { d }, t) => score / Math.sqrt(d) / t,
  inverse: (score, _i, { d }, a) => (a * score) / d,
  "qk-norm": (_score, i, { cosines }, g) => g * (cosines?.[i] ?? NaN),
  softcap: (score, _i, { d }, c) => c * Math.tanh(score / Math.sqrt(d) / c),
  "log-n": (score, _i, { d, scores }, n) => ((score / Math.sqrt(d)) * Math.log(scores.length)) / Math.log(n),
  sink: (score, _i, { d }) => score / Math.sqrt(d),
};

export const KINDS = Object.keys(LOGITS);

/**
 * Logits and weights of a row; a score of -Infinity is a masked key, and a row of nothing else has no weights.
 * @param {string} kind @param {ScoreRow} row @param {number} parameter
 * @param {number} coldest a temperature not above this is 0
 * @returns {{ logits: ArrayLike<number>, weights: Float64Array }}
 */
export function softmaxRow(kind, row, parameter, coldest) {
  const logitOf = LOGITS[kind];
  if (!logitOf) throw new Error(`kind=${kind} must be one of ${KINDS.join(", ")}`);
  const masked = (/** @type {number} */ score) => score === -Infinity;
  const frozen = kind === "temperature" && parameter <= coldest;
  const number = frozen ? coldest : parameter;
  const logits = Float64Array.from(row.scores, (s, i) => (masked(s) ? -Infinity : logitOf(s, i, row, number)));
  if (frozen) return { logits: row.scores, weights: shareOfLargest(logits) };
  return { logits, weights: softmax(logits, kind === "sink" ? parameter : -Infinity) };
}

/** All weight on the largest; those that tie share it. @param {Float64Array} logits */
function shareOfLargest(logits) {
  const top = largestOf(logits);
  if (top === -Infinity) return new Float64Array(logits.length);
  const ties = logits.reduce((n, z) => n + Number(z === top), 0);
  return logits.map((z) => (z === top ? 1 / ties : 0));
}

/** @param {Float64Array} values */
function largestOf(values) {
  return values.reduce((top, z) => Math.max(top, z), -Infinity);
}

/** What the bars' figures say. Entropy is of the weights on keys alone, so that a sink does not count. */
/** @param {Float64Array} weights */
export function rowStatistics(weights) {
  const total = weights.reduce((sum, w) => sum + w, 0);
  let entropy = 0;
  for (const w of weights) if (w > 0) entropy -= (w / total) * Math.log(w / total);
  entropy = Math.max(0, entropy);
  return { largest: Math.max(0, largestOf(weights)), total, entropy, effective: Math.exp(entropy) };
}

/** The same as they are written: the largest weight, the entropy, how many keys it is as spread out as. */
/** @param {Float64Array} weights */
export function rowFacts(weights) {
  const { largest, entropy, effective } = rowStatistics(weights);
  const written = (/** @type {number} */ value) =>
    value < 1000 ? toSignificant(value, 3).toPrecision(3) : formatSignificant(value); // 2.40 beside 1.64
  return [formatPercent(largest), written(entropy), written(effective)];
}

export const STOPS = 1000;

/** @param {SliderParameter} parameter */
const lowest = ({ low, high }) => (low > 0 ? low : high / 1e4);

/** @param {number} stop @param {SliderParameter} parameter */
export function parameterAt(stop, parameter) {
  const { low, high, linear } = parameter;
  const t = stop / STOPS;
  if (linear) return low + t * (high - low);
  if (low <= 0 && stop <= 0) return low;
  return lowest(parameter) * Math.pow(high / lowest(parameter), t);
}

/** @param {number} value @param {SliderParameter} parameter */
export function stopOf(value, parameter) {
  const { low, high, linear } = parameter;
  if (linear) return Math.round(((value - low) / (high - low)) * STOPS);
  if (value < lowest(parameter)) return 0;
  return Math.round((Math.log(value / lowest(parameter)) / Math.log(high / lowest(parameter))) * STOPS);
}
