// The forward pass of a small model of attention layers alone, as attnviz/pages/born/maths/repeats.py computes it: rotary
// positions, no norm, no MLP. tests/js/cases/birth.json holds the two together.

import { attend } from "../shared/attend.js";

/** @import { BirthSizes } from "../shared/types.js" */
/** @typedef {ReturnType<typeof forward>} Pass */

/** The numbers of one step from their 16 bits. @param {Uint16Array} halves */
export function singles(halves) {
  const bits = new Uint32Array(halves.length);
  // a half's exponent is 112 less than a single's: multiplied by 2^112, what is below the smallest normal one comes right, too
  for (let i = 0; i < bits.length; i++) bits[i] = ((halves[i] & 0x8000) << 16) | ((halves[i] & 0x7fff) << 13);
  return new Float32Array(bits.buffer).map((value) => value * 2 ** 112);
}

/** x (rows, inner) times the matrix (inner, cols) that begins at `from` among the numbers. */
/** @param {Float64Array} x @param {Float32Array} numbers @param {number} from @param {number} inner @param {number} cols */
function times(x, numbers, from, inner, cols) {
  const rows = x.length / inner;
  const made = new Float64Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    for (let m = 0; m < inner; m++) {
      const value = x[r * inner + m];
      const row = from + m * cols;
      for (let c = 0; c < cols; c++) made[r * cols + c] += value * numbers[row + c];
    }
  }
  return made;
}

/** Turns each head's pairs by their position, in place: number i of a head with number i + D/2. */
/** @param {Float64Array} x (T, H*D) @param {BirthSizes} sizes */
function turn(x, { heads, depth, base }) {
  const half = depth / 2;
  const wide = heads * depth;
  for (let i = 0; i < half; i++) {
    const speed = base ** (-i / half);
    for (let t = 0; t < x.length / wide; t++) {
      const [cos, sin] = [Math.cos(t * speed), Math.sin(t * speed)];
      for (let at = t * wide + i; at < (t + 1) * wide; at += depth) {
        const [a, b] = [x[at], x[at + half]];
        x[at] = a * cos - b * sin;
        x[at + half] = b * cos + a * sin;
      }
    }
  }
  return x;
}

/**
 * What the model makes of these words: each head's weights (T, T), layer by layer; how likely it finds the word that comes
 * next, and whether it finds it likeliest, after each word but the last.
 * @param {Float32Array} numbers @param {number[]} ids @param {BirthSizes} sizes @param {ReadonlySet<number>} silenced heads
 * whose output is 0, by their place among all
 */
export function forward(numbers, ids, sizes, silenced) {
  const { words, width, layers, heads, depth, causal, scales } = sizes;
  const [length, inside] = [ids.length, heads * depth];
  const x = new Float64Array(length * width);
  ids.forEach((id, t) => x.set(numbers.subarray(id * width, (id + 1) * width), t * width));
  const mask = Uint8Array.from({ length: length ** 2 }, (_none, i) => Number(!causal || i % length <= i / length));
  /** @type {Float32Array[]} */
  const weights = [];
  let from = words * width;
  for (let layer = 0; layer < layers; layer++) {
    const [q, k, v] = [0, 1, 2].map((part) => times(x, numbers, from + part * width * inside, width, inside));
    for (const each of [q, k]) turn(each, sizes);
    const output = new Float64Array(length * inside);
    for (let head = 0; head < heads; head++) {
      const scores = scoresOf(q, k, length, inside, head * depth, depth);
      const head0 = {
        shape: /** @type {[number, number]} */ ([length, length]),
        scores,
        bias: null,
        softcap: null,
        sink: null,
      };
      const given = attend(head0, mask, scales[layer]);
      weights.push(given);
      if (!silenced.has(layer * heads + head)) mix(given, v, output, length, inside, head * depth, depth);
    }
    const added = times(output, numbers, from + 3 * width * inside, inside, width);
    for (let i = 0; i < x.length; i++) x[i] += added[i];
    from += 4 * width * inside;
  }
  return { weights, ...judged(times(x, numbers, from, width, words), ids, words) };
}

/** @param {Float64Array} q @param {Float64Array} k @param {number} length @param {number} wide @param {number} first @param {number} depth */
function scoresOf(q, k, length, wide, first, depth) {
  const scores = new Float32Array(length * length);
  for (let i = 0; i < length; i++) {
    for (let j = 0; j < length; j++) {
      let sum = 0;
      for (let d = first; d < first + depth; d++) sum += q[i * wide + d] * k[j * wide + d];
      scores[i * length + j] = sum;
    }
  }
  return scores;
}

/** @param {Float32Array} weights @param {Float64Array} v @param {Float64Array} output @param {number} length @param {number} wide @param {number} first @param {number} depth */
function mix(weights, v, output, length, wide, first, depth) {
  for (let i = 0; i < length; i++) {
    for (let j = 0; j < length; j++) {
      const weight = weights[i * length + j];
      if (weight) for (let d = first; d < first + depth; d++) output[i * wide + d] += weight * v[j * wide + d];
    }
  }
}

/** @param {Float64Array} logits @param {number[]} ids @param {number} words */
function judged(logits, ids, words) {
  const asked = ids.slice(1);
  const rows = asked.map((_id, t) => logits.subarray(t * words, (t + 1) * words));
  const largest = rows.map((row) => Math.max(...row));
  const sums = rows.map((row, t) => row.reduce((sum, logit) => sum + Math.exp(logit - largest[t]), 0));
  const likely = asked.map((id, t) => Math.exp(rows[t][id] - largest[t]) / sums[t]);
  return { likely, right: asked.map((id, t) => rows[t][id] === largest[t]) };
}

/** The mean loss, in nats, of the second copy's words but its first. @param {number[]} likely */
export function lossOf(likely) {
  const known = likely.slice((likely.length + 1) / 2);
  return known.reduce((sum, share) => sum - Math.log(share), 0) / known.length;
}

/** A head's mean weight on the token before, and on what came after the same word before. */
/** @param {Float32Array} weights @param {number[]} ids @returns {{ previous: number, induction: number }} */
export function scoresOn(weights, ids) {
  const length = ids.length;
  /** @type {number[]} */
  const found = [];
  let previous = 0;
  for (let q = 1; q < length; q++) {
    previous += weights[q * length + q - 1] / (length - 1);
    const after = ids.slice(0, q).flatMap((id, k) => (id === ids[q] ? [weights[q * length + k + 1]] : []));
    if (after.length) found.push(after.reduce((sum, weight) => sum + weight, 0));
  }
  return { previous, induction: found.reduce((sum, weight) => sum + weight, 0) / Math.max(1, found.length) };
}
