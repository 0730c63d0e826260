// One query's way through attention, in numbers: its vectors, scores, these scaled and masked, weights, and the new vector. The
// lessons' picture and the film of a head are drawn from them.

import { attend, writeLogits } from "../shared/attend.js";
import { visibleToken } from "../shared/dom.js";
import { toFloats } from "../shared/packing.js";

/** @import { RawHead, StoryHeader } from "../shared/types.js" */
/** @typedef {ReturnType<typeof scoreNumbers>} ScoreNumbers scores of a row, before and after each step to its weights */
/** @typedef {{ x: Float32Array[], q: Float32Array, k: Float32Array[], v: Float32Array[], z: Float32Array }} Vectors `z`: the new one */
/** @typedef {ScoreNumbers & { vectors: Vectors | null, matrix: Float32Array[], changed: Changed | null,
 *   starts: boolean[] | null }} StoryNumbers `starts`: whether a blank stands before each token */
/** @typedef {NonNullable<StoryHeader["changed"]>} Changed */

/** Keys that are drawn: of more, those with the largest weights. */
export const MOST_KEYS = 40;

/**
 * A row's numbers at each step; -Infinity where a key is masked.
 * @param {RawHead} one the head's row alone @param {Uint8Array | null} mask @param {number} factor what multiplies the scores
 * @param {string[]} tokens of the keys @param {string} token the query @param {number | null} own its place among the keys
 */
export function scoreNumbers(one, mask, factor, tokens, token, own) {
  const scaled = new Float32Array(one.shape[1]);
  writeLogits(one, mask, factor, scaled, 0, one.shape[1]);
  const weights = attend(one, mask, factor);
  const names = tokens.map((name) => visibleToken(name).trim());
  const order = Array.from(names, (_name, key) => key).sort((a, b) => weights[b] - weights[a] || a - b);
  const keys = order.slice(0, MOST_KEYS).sort((a, b) => a - b);
  const { scores, bias, softcap, sink } = one;
  const changes = { isBiased: bias !== null, softcap, hasSink: sink !== null };
  return { token: visibleToken(token).trim(), own, names, keys, scores, scaled, weights, factor, ...changes };
}

/** The largest of these, by its place. @param {Float32Array} values */
export const largestOf = (values) => values.indexOf(Math.max(...values));

/**
 * The numbers of a lesson's picture.
 * @param {StoryHeader} header @param {Uint8Array} payload x, k and v of every token, q, and the weights of all rows
 * @param {number} factor what multiplies the scores @param {number} terms how many products a score adds up
 * @returns {StoryNumbers}
 */
export function storyNumbers({ tokens, row, width, seen, changed, starts }, payload, factor, terms) {
  const [n, floats] = [tokens.length, toFloats(payload)];
  let at = 0;
  const take = (/** @type {number} */ size) => floats.subarray(at, (at += size));
  const rows = (/** @type {number} */ size) => Array.from({ length: n }, () => take(size));
  const [x, k, v, q, matrix] = [rows(width), rows(width), rows(width), take(width), rows(n)];
  const scores = Float32Array.from(k, (key) => dot(q, key, terms));
  const shape = /** @type {[number, number]} */ ([1, n]);
  const rowScores = { shape, exact: true, scores, scale: 1, dHead: width, mask: null, padding: null };
  const raw = /** @type {RawHead} */ (/** @type {unknown} */ ({ ...rowScores, bias: null, softcap: null, sink: null }));
  const numbers = scoreNumbers(raw, Uint8Array.from(seen), factor, tokens, tokens[row], row);
  const z = new Float32Array(width).map((_zero, i) =>
    v.reduce((sum, value, key) => sum + numbers.weights[key] * value[i], 0),
  );
  return { ...numbers, vectors: { x, q, k, v, z }, matrix, changed, starts };
}

/** q·k, of so many products. @param {Float32Array} q @param {Float32Array} k @param {number} terms */
function dot(q, k, terms) {
  return q.reduce((sum, value, i) => (i < terms ? sum + value * k[i] : sum), 0);
}
