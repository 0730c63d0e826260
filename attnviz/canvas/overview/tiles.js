// A head's small picture from its weights, as Python's packing.thumbnails makes it: the largest weight of each block.

import { MASKED_8 } from "../shared/codes.js";

/** @import { Shape } from "../shared/types.js" */

/**
 * Codes of a picture of at most `side` x `side` cells; a cell is masked only where all it covers is.
 * @param {Float32Array} weights (Q, K), between 0 and 1
 * @param {Uint8Array | null} mask 1 = may attend; null = everywhere
 * @param {Shape} shape
 * @param {number} side
 * @param {Uint8Array} [tile] where it is written
 */
export function thumbnail(weights, mask, [nq, nk], side, tile) {
  const [rows, cols] = [Math.min(nq, side), Math.min(nk, side)];
  const codes = tile ?? new Uint8Array(rows * cols);
  const largest = new Float32Array(rows * cols).fill(-1);
  const place = placesOf(nk, cols);
  for (let r = 0; r < rows; r++) {
    for (let q = Math.floor((r * nq) / rows); q < Math.floor(((r + 1) * nq) / rows); q++) {
      for (let k = 0; k < nk; k++) {
        const i = q * nk + k;
        const at = r * cols + place[k];
        if ((mask === null || mask[i] === 1) && weights[i] > largest[at]) largest[at] = weights[i];
      }
    }
  }
  for (let i = 0; i < codes.length; i++) codes[i] = codeOf(largest[i]);
  return codes;
}

/** @param {number} weight */
function codeOf(weight) {
  return weight < 0 ? MASKED_8 : Math.round(Math.fround(Math.sqrt(Math.min(1, weight))) * 254);
}

/**
 * The block that each position lies in.
 * @param {number} n
 * @param {number} blocks
 */
function placesOf(n, blocks) {
  const place = new Uint16Array(n);
  for (let b = 0; b < blocks; b++) {
    place.fill(b, Math.floor((b * n) / blocks), Math.floor(((b + 1) * n) / blocks));
  }
  return place;
}
