// The forward pass of a small model of attention layers alone, as attnviz/pages/born/maths/life.py computes it: rotary
// positions, no norm, no MLP. tests/js/cases/birth.json holds the two together.

import { attend } from "../shared/attend.js";

/** @import { BirthSizes } from "../shared/types.js" */
/** @typedef {ReturnType<typeof forward>} Pass */

const PLAIN = { bias: null, softcap: null, sink: null };

/** The numbers of one step from their 16 bits. @param {Uint16Array} halves */
export function decodeSingles(halves) {
  const bits = new Uint32Array(halves.length);
  // a half's exponent is 112 less than a single's: multiplied by 2^112, what is below the smallest normal one comes right, too
  for (let i = 0; i < bits.length; i++) bits[i] = ((halves[i] & 0x8000) << 16) | ((halves[i] & 0x7fff) << 13);
  return new Float32Array(bits.buffer).map((value) => value * 2 ** 112);
}

/** x (rows, inner) times the matrix (inner, cols) that begins at `from` among the numbers. */
/** @param {Float32Array} x @param {Float32Array} numbers @param {number} from @param {number} inner @param {number} cols */
function multiplyRows(x, numbers, from, inner, cols) {
  const rows = x.length / inner;
  const made = new Float32Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    for (let m = 0; m < inner; m++) {
      const value = x[r * inner + m];
      const row = from + m * cols;
      for (let c = 0; c < cols; c++) made[r * cols + c] += value * numbers[row + c];
    }
  }
  return made;
}

/** One head's numbers (T, D) of those of all, turned by their angles (T, D/2) if there are any: number i with i + D/2. */
/** @param {Float32Array} x @param {number} wide numbers of a row @param {number} first @param {number} depth @param {number[]} [angles] */
function headColumns(x, wide, first, depth, angles) {
  const made = new Float32Array((x.length / wide) * depth);
  for (let i = 0; i < made.length; i++) made[i] = x[Math.floor(i / depth) * wide + first + (i % depth)];
  angles?.forEach((angle, i) => {
    const one = 2 * i - (i % (depth / 2));
    const [a, b, cos, sin] = [made[one], made[one + depth / 2], Math.cos(angle), Math.sin(angle)];
    made[one] = a * cos - b * sin;
    made[one + depth / 2] = b * cos + a * sin;
  });
  return made;
}

/**
 * What the model makes of these words: each head's weights (T, T), layer by layer; how likely it finds the word that comes
 * next, and whether it finds it likeliest, after each word but the last.
 * @param {Float32Array} numbers @param {number[]} ids @param {BirthSizes} sizes @param {ReadonlySet<number>} silenced heads
 * whose output is 0, by their place among all
 */
export function forward(numbers, ids, sizes, silenced) {
  const { words, width, layers, heads, depth, base, causal, scales } = sizes;
  const [length, inside] = [ids.length, heads * depth];
  const x = new Float32Array(length * width);
  ids.forEach((id, t) => x.set(numbers.subarray(id * width, (id + 1) * width), t * width));
  const mask = Uint8Array.from({ length: length ** 2 }, (_none, i) => Number(!causal || i % length <= i / length));
  const half = depth / 2;
  const angles = Array.from(
    { length: length * half },
    (_none, i) => Math.floor(i / half) * base ** (-(i % half) / half),
  );
  /** @type {Float32Array[]} */
  const weights = [];
  let from = words * width;
  for (let layer = 0; layer < layers; layer++) {
    const [q, k, v] = [0, 1, 2].map((part) => multiplyRows(x, numbers, from + part * width * inside, width, inside));
    for (let first = 0; first < inside; first += depth) {
      const [own, keys] = [q, k].map((each) => headColumns(each, inside, first, depth, angles));
      const across = keys.map((_none, i) => keys[(i % length) * depth + Math.floor(i / length)]);
      const scores = multiplyRows(own, across, 0, depth, length);
      const given = attend({ ...PLAIN, shape: [length, length], scores }, mask, scales[layer]);
      if (!silenced.has(weights.push(given) - 1)) {
        const output = multiplyRows(given, headColumns(v, inside, first, depth), 0, length, depth);
        const added = multiplyRows(output, numbers, from + (3 * inside + first) * width, depth, width);
        for (let i = 0; i < x.length; i++) x[i] += added[i];
      }
    }
    from += 4 * width * inside;
  }
  return { weights, ...predictTokens(multiplyRows(x, numbers, from, width, words), ids, words) };
}

/** @param {Float32Array} logits @param {number[]} ids @param {number} words */
function predictTokens(logits, ids, words) {
  const asked = ids.slice(1);
  const rows = asked.map((_id, t) => logits.subarray(t * words, (t + 1) * words));
  const largest = rows.map((row) => Math.max(...row));
  const sums = rows.map((row, t) => row.reduce((sum, logit) => sum + Math.exp(logit - largest[t]), 0));
  const likely = asked.map((id, t) => Math.exp(rows[t][id] - largest[t]) / sums[t]);
  return { likely, right: asked.map((id, t) => rows[t][id] === largest[t]) };
}

/**
 * The passes of a file, by the places of their steps.
 * @param {import("../shared/types.js").BirthHeader} header @param {Uint8Array} payload numbers of a step; then of each
 * place weights in 16 bits; then how likely each next word is; then whether it is the likeliest
 */
export function passesByStep({ places, names, ids, size }, payload) {
  let at = 2 * size;
  const next = (/** @type {number} */ bytes) => payload.slice(at, (at += bytes)).buffer;
  const [cells, asked] = [ids.length ** 2, ids.length - 1];
  const weights = Float32Array.from(new Uint16Array(next(2 * places.length * names.length * cells)), (x) => x / 65535);
  const likely = new Float32Array(next(4 * places.length * asked));
  const right = new Uint8Array(next(places.length * asked));
  return new Map(
    places.map((place, n) => [
      place,
      {
        weights: names.map((_name, head) => weights.subarray((n * names.length + head) * cells).subarray(0, cells)),
        likely: [...likely.subarray(n * asked, (n + 1) * asked)],
        right: [...right.subarray(n * asked, (n + 1) * asked)].map(Boolean),
      },
    ]),
  );
}

/** The mean loss, in nats, of the second copy's words but its first. @param {number[]} likely */
export function meanLoss(likely) {
  const known = likely.slice((likely.length + 1) / 2);
  return known.reduce((sum, share) => sum - Math.log(share), 0) / known.length;
}

/** A head's mean weight on the token before, and on what came after the same word before. */
/** @param {Float32Array} weights @param {number[]} ids @returns {{ previous: number, induction: number }} */
export function patternScores(weights, ids) {
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
