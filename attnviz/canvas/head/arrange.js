// Weights between tokens as a matrix to look at: tokens joined into words, special tokens left out, weights times the
// length of values. Python's side is attnviz.runs.head_matrix.

/** @import { FullArrangement, Shape } from "../shared/types.js" */
/** @typedef {{ values: Float32Array, hidden: Uint8Array | null }} Arranged `hidden`: 1 where the mask hides, null = nowhere */

/** Every token stands for itself. */
export const PLAIN = Object.freeze({ rows: null, cols: null, merged: false, renormalise: false, norms: null });

/**
 * Joins the keys of an entry by adding them up, its queries by their mean; a cell is hidden where all it covers is.
 * @param {Float32Array} weights (Q, K)
 * @param {Uint8Array | null} mask @param {FullArrangement} how @returns {Arranged}
 */
export function arrange(weights, mask, how) {
  const { rows, cols, norms } = how;
  if (rows === null && cols === null) {
    const values = norms === null ? weights : weights.map((w, i) => w * norms[i % norms.length]);
    if (how.renormalise) rescaleRows(values, how.shape);
    return { values, hidden: mask === null ? null : mask.map((open) => 1 - open) };
  }
  const [nq, nk] = how.shape;
  const [groupsQ, groupsK] = [rows ?? ownKeys(nq), cols ?? ownKeys(nk)];
  const shape = /** @type {Shape} */ ([groupsQ.length, groupsK.length]);
  const values = new Float32Array(shape[0] * shape[1]);
  const hidden = mask === null ? null : new Uint8Array(values.length);
  let i = 0;
  for (const queries of groupsQ) {
    for (const keys of groupsK) {
      const [sum, seen] = joined(queries, keys, nk, weights, mask, norms);
      values[i] = how.merged ? sum / queries.length : sum;
      if (hidden !== null) hidden[i] = seen ? 0 : 1;
      i += 1;
    }
  }
  if (how.renormalise) rescaleRows(values, shape);
  return { values, hidden };
}

/**
 * @param {number[]} queries @param {number[]} keys @param {number} nk @param {Float32Array} weights
 * @param {Uint8Array | null} mask @param {Float32Array | null} norms
 * @returns {[number, boolean]} the sum, and whether any of its cells may be seen
 */
function joined(queries, keys, nk, weights, mask, norms) {
  let sum = 0;
  let seen = mask === null;
  for (const q of queries) {
    for (const k of keys) {
      const i = q * nk + k;
      sum += norms === null ? weights[i] : weights[i] * norms[k];
      seen ||= mask !== null && mask[i] === 1;
    }
  }
  return [sum, seen];
}

/** Every position by itself. @param {number} n */
export function ownKeys(n) {
  return Array.from({ length: n }, (_, i) => [i]);
}

/** Rows sum to 1 again; a row of nothing stays so. @param {Float32Array} values @param {Shape} shape */
function rescaleRows(values, [rows, cols]) {
  for (let r = 0; r < rows; r++) {
    let total = 0;
    for (let c = 0; c < cols; c++) total += values[r * cols + c];
    if (total === 0) continue;
    for (let c = 0; c < cols; c++) values[r * cols + c] /= total;
  }
}
