// Rows of weights over patches, from raw scores, under what a visitor hides and scales. It draws nothing.

import { tileOrder } from "../overview/mosaic_geometry.js";
import { attend } from "../shared/attend.js";

/** @import { PatchChoices, PatchHeader, RawHead } from "../shared/types.js" */

/**
 * One row of a head: what token `row` gives to each token.
 * @param {RawHead} head @param {number} row
 * @param {Uint8Array | null} seen one a key, 1 = may be looked at; null = all
 * @param {number} factor times the model's own scale
 * @param {Float32Array} [into]
 */
export function rowOf(head, row, seen, factor, into = new Float32Array(head.shape[1])) {
  const { softcap, sink, shape } = head;
  const nk = shape[1];
  const [from, to] = [row * nk, (row + 1) * nk];
  if (!head.exact) {
    into.set(head.scores.subarray(from, to));
    return into;
  }
  const own = head.mask.subarray(from, to);
  const mask = seen === null ? own : Uint8Array.from(own, (may, k) => may & seen[k]);
  const bias = head.bias === null ? null : head.bias.subarray(from, to);
  const scores = head.scores.subarray(from, to);
  return attend({ softcap, sink, shape: [1, nk], scores, bias }, mask, head.scale * factor, into);
}

/**
 * The mean of some rows.
 * @param {RawHead} head
 * @param {number} first the first row
 * @param {Uint8Array | null} seen @param {number} factor
 */
export function meanOf(head, first, seen, factor) {
  const [nq, nk] = head.shape;
  const sum = new Float32Array(nk);
  const row = new Float32Array(nk);
  for (let q = first; q < nq; q++) {
    rowOf(head, q, seen, factor, row);
    for (let k = 0; k < nk; k++) sum[k] += row[k];
  }
  return sum.map((total) => total / (nq - first));
}

/** Which keys may be looked at; null where nothing is hidden. */
/** @param {readonly number[]} hidden @param {PatchHeader["grid"]} grid */
export function seenKeys(hidden, { rows, columns, first }) {
  if (hidden.length === 0) return null;
  const seen = new Uint8Array(first + rows * columns).fill(1);
  for (const patch of hidden) seen[first + patch] = 0;
  return seen;
}

/** The factor that a head is shown with: the visitor's, for the head that it was chosen for. */
/** @param {PatchChoices} state @param {number} layer @param {number} head */
export function factorFor(state, layer, head) {
  return layer === state.layer && head === state.head ? state.factor : 1;
}

/** The largest weight of a patch. @param {Float32Array} row @param {number} first */
export function brightest(row, first) {
  return row.subarray(first).reduce((top, weight) => Math.max(top, weight), 0);
}

/** The strongest tokens of a row, strongest first. @param {Float32Array} row @param {number} most */
export function strongest(row, most) {
  return Array.from(row.keys())
    .sort((a, b) => row[b] - row[a])
    .slice(0, most);
}

/** Weights that came as 16 bits of their square roots. @param {Uint8Array} bytes */
export function squares(bytes) {
  return Float32Array.from(new Uint16Array(bytes.slice().buffer), (root) => (root / 65535) ** 2);
}

/** The heads as [layer, head], in the order in which they are shown. */
/** @param {Pick<PatchHeader, "heads" | "measure" | "ordered">} header @returns {[number, number][]} */
export function headsInOrder({ heads, measure, ordered }) {
  const all = heads.flatMap((count, layer) =>
    Array.from({ length: count }, (_, head) => /** @type {[number, number]} */ ([layer, head])),
  );
  return tileOrder(all.length, { order: ordered ? "measure" : "place", measure }).map((i) => all[i]);
}

/** The mean of rows that are as long. @param {readonly Float32Array[]} rows @param {number} length */
export function meanOfRows(rows, length) {
  const mean = new Float32Array(length);
  for (const row of rows) for (let k = 0; k < length; k++) mean[k] += row[k] / rows.length;
  return mean;
}

/**
 * A layer as one matrix with the residual stream, which has the same share as attention: rows of the mean of its heads,
 * each half kept where it is, and then scaled to sum to 1. Python's side is `layer_mix` in attnviz/core/measures.py.
 * @param {readonly Float32Array[]} mean one row for each token
 */
export function mixed(mean) {
  return mean.map((row, token) => {
    const mix = row.map((weight) => weight / 2);
    mix[token] += 0.5;
    const total = mix.reduce((sum, share) => sum + share, 0);
    return mix.map((share) => share / total);
  });
}

/** What a token is made of after these layers, the first of them first (Abnar and Zuidema 2020). */
/** @param {readonly Float32Array[][]} mixes @param {number} token */
export function followed(mixes, token) {
  let row = mixes[mixes.length - 1][token];
  for (let layer = mixes.length - 2; layer >= 0; layer--) {
    const next = new Float32Array(row.length);
    mixes[layer].forEach((mix, from) => {
      const share = row[from];
      if (share > 0) for (let k = 0; k < next.length; k++) next[k] += share * mix[k];
    });
    row = next;
  }
  return row;
}
