// Weights of a plain causal head from its q, k and the log-sum-exp of each row, and their codes, as analysis/long_text.py has them.

export const TILE = 256;
export const DECADES = 5;

/**
 * Weights of a tile, row by row; -1 where a key comes later than its query.
 * @param {{ q: Float32Array, k: Float32Array, width: number, lse: Float32Array, scale: number, q0: number, k0: number }} tile
 * vectors of `width` numbers; `q0` and `k0` are the positions of the first ones, `lse` is of all rows of the head
 */
export function tileWeights({ q, k, width, lse, scale, q0, k0 }) {
  const [rows, columns] = [q.length / width, k.length / width];
  const weights = new Float32Array(rows * columns).fill(-1);
  for (let r = 0; r < rows; r++) {
    const [from, sum] = [r * width, lse[q0 + r]];
    const seen = Math.min(columns, q0 + r - k0 + 1);
    for (let c = 0; c < seen; c++) {
      let dot = 0;
      for (let d = 0, at = c * width; d < width; d++) dot += q[from + d] * k[at + d];
      weights[r * columns + c] = Math.exp(dot * scale - sum);
    }
  }
  return { weights, rows, columns };
}

/** Codes of weights: 1 to 255 in even steps of the logarithm from 0.00001 to 1, and 0 where all is masked. */
/** @param {Float32Array} weights */
export function logCodes(weights) {
  return Uint8Array.from(weights, (weight) => {
    if (weight < 0) return 0;
    const share = 1 + Math.log10(Math.max(weight, 1e-9)) / DECADES;
    return 1 + Math.round(254 * Math.min(1, Math.max(0, share)));
  });
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
