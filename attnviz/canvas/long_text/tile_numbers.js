// Weights of a plain head of a long text from its q and k, under any mask and scale: a few rows at a time, the largest of each
// block, and their codes as analysis/long_text.py has them. No page: a worker has it, and tests.

import { decodeHalf, createMemory } from "../shared/matmul.js";

/** Which keys are seen, and what multiplies q·k. @typedef {{ mask: "causal" | "window" | "none", window: number, factor: number }} Rule */
/** @typedef {{ codes: Uint8Array, weights: Float32Array, rows: number, columns: number }} Blocks */

export const TILE = 256;
export const DECADES = 5;
const ROWS = 64; // whose scores are in memory at once

/** The first key that a query sees, and the one after the last. @param {Rule} rule @param {number} query @param {number} n */
export function seenKeys({ mask, window }, query, n) {
  const stop = mask === "none" ? n : query + 1;
  return [mask === "window" ? Math.max(0, stop - window) : 0, stop];
}

export class HeadWeights {
  /** @type {Map<string, Float32Array>} of each rule, the logarithm of each row's sum; NaN where it is not known */
  sums = new Map();

  /**
   * @param {number} n tokens @param {number} width of a vector
   * @param {BufferSource | null} kernel the program of kernel.wat; null: plain JavaScript
   */
  constructor(n, width, kernel) {
    this.n = n;
    this.width = width;
    this.q = new Float32Array(n * width);
    this.room = createMemory(4 * n * width, width % 4 ? null : kernel);
  }

  /** Takes queries or keys from a position on. @param {"q" | "k"} kind @param {number} at @param {Float32Array} vectors */
  take(kind, at, vectors) {
    (kind === "q" ? this.q : this.room.floats(0, this.n * this.width)).set(vectors, at * this.width);
  }

  /** @param {Rule} rule */
  sumsOf(rule) {
    const name = JSON.stringify(rule);
    const sums = this.sums.get(name) ?? new Float32Array(this.n).fill(NaN);
    this.sums.set(name, sums);
    return sums;
  }

  /** Weights of some rows, in rising order, for the keys from `from` to `to`; -1 where one is masked. */
  /** @param {Rule} rule @param {number[]} rows @param {number} from @param {number} to */
  weights(rule, rows, from, to) {
    const { n, width, room } = this;
    const sums = this.sumsOf(rule);
    const wide = to - from;
    const isKnown = rows.every((row) => !Number.isNaN(sums[row]));
    const [first, stop] = isKnown
      ? [from, to]
      : [seenKeys(rule, rows[0], n)[0], seenKeys(rule, rows[rows.length - 1], n)[1]];
    const columns = stop - first;
    room.rewind((rows.length + 6) * width + rows.length * columns + 16);
    const [x, y] = [room.take((rows.length + 3) * width), room.take(rows.length * columns)];
    const queries = room.floats(x, rows.length * width);
    rows.forEach((row, i) => queries.set(this.q.subarray(row * width, (row + 1) * width), i * width));
    room.multiply({ at: 4 * first * width, kind: "F32", shape: [columns, width] }, x, y, rows.length);
    const scores = room.floats(y, rows.length * columns);
    const weights = new Float32Array(rows.length * wide).fill(-1);
    rows.forEach((row, i) => {
      const [low, high] = seenKeys(rule, row, n);
      const begin = i * columns - first;
      if (!isKnown) sums[row] = logSumExp(scores, begin + low, begin + high, rule.factor);
      for (let k = Math.max(low, from); k < Math.min(high, to); k++)
        weights[i * wide + k - from] = Math.exp(scores[begin + k] * rule.factor - sums[row]);
    });
    return weights;
  }

  /**
   * The largest weight of blocks of `high` of these rows and `step` keys.
   * @param {Rule} rule @param {number[]} rows @param {number} high @param {number} from @param {number} to @param {number} step
   * @returns {Blocks}
   */
  blocks(rule, rows, high, from, to, step) {
    const columns = Math.ceil((to - from) / step);
    const largest = new Float32Array(Math.ceil(rows.length / high) * columns).fill(-1);
    for (let at = 0; at < rows.length; at += ROWS) {
      const band = rows.slice(at, at + ROWS);
      const weights = this.weights(rule, band, from, to);
      for (let r = 0, i = 0; r < band.length; r++) {
        const row = Math.floor((at + r) / high) * columns;
        for (let k = 0; k < to - from; k++, i++) {
          const cell = row + Math.floor(k / step);
          if (weights[i] > largest[cell]) largest[cell] = weights[i];
        }
      }
    }
    return { codes: logCodes(largest), weights: largest, rows: largest.length / columns, columns };
  }

  /** A tile of blocks of `step` tokens a side. @param {Rule} rule @param {number} step @param {number} i @param {number} j */
  tile(rule, step, i, j) {
    const size = step * TILE;
    const rows = range(i * size, Math.min(this.n, (i + 1) * size));
    return this.blocks(rule, rows, step, j * size, Math.min(this.n, (j + 1) * size), step);
  }

  /** All of it, from one row of each `step`. @param {Rule} rule @param {number} step */
  sketch(rule, step) {
    const rows = range(0, this.n).filter((row) => row % step === Math.min(step >> 1, (this.n - 1) % step));
    return this.blocks(rule, rows, 1, 0, this.n, step);
  }

  /** The mean of some rows. @param {Rule} rule @param {number} start @param {number} stop */
  meanRow(rule, start, stop) {
    const mean = new Float32Array(this.n);
    for (let at = start; at < stop; at += ROWS) {
      const rows = range(at, Math.min(stop, at + ROWS));
      this.weights(rule, rows, 0, this.n).forEach((weight, i) => {
        if (weight > 0) mean[i % this.n] += weight / (stop - start);
      });
    }
    return mean;
  }
}

/** @param {number} start @param {number} stop */
const range = (start, stop) => Array.from({ length: stop - start }, (_, i) => start + i);

/** @param {Float32Array} scores @param {number} from @param {number} to @param {number} factor */
function logSumExp(scores, from, to, factor) {
  let top = -Infinity;
  for (let i = from; i < to; i++) top = Math.max(top, scores[i] * factor);
  let sum = 0;
  for (let i = from; i < to; i++) sum += Math.exp(scores[i] * factor - top);
  return top + Math.log(sum);
}

/** Numbers of 16 bits, as a file has them. @param {Uint8Array} bytes */
export function fromHalves(bytes) {
  return Float32Array.from(new Uint16Array(bytes.slice().buffer), decodeHalf);
}

/** Codes of weights: 1 to 255 in even steps of the logarithm from 0.00001 to 1, and 0 where all is masked. */
/** @param {Float32Array} weights */
export function logCodes(weights) {
  const codes = new Uint8Array(weights.length);
  weights.forEach((weight, i) => {
    const share = 1 + Math.log10(Math.max(weight, 1e-9)) / DECADES;
    if (weight >= 0) codes[i] = 1 + Math.round(254 * Math.min(1, Math.max(0, share)));
  });
  return codes;
}

/** The weight that a code from 1 on stands for. @param {number} code */
export const codeWeight = (code) => 10 ** (((code - 1) / 254 - 1) * DECADES);

/** The unit that a token is in: the last that begins at it or before. @param {number[]} starts @param {number} token */
export function unitOf(starts, token) {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= token) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Weights summed over each unit, without the first token. @param {Float32Array} row @param {number[]} starts */
export function pooledRow(row, starts) {
  const sums = new Float32Array(starts.length);
  for (let u = 0; u < starts.length; u++) {
    const stop = starts[u + 1] ?? row.length;
    for (let i = Math.max(1, starts[u]); i < stop; i++) sums[u] += row[i];
  }
  return sums;
}
