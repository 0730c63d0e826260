// RoPE's arithmetic on pairs of numbers.

/** @typedef {[number, number]} Pair */

/** A pair turned by an angle, as core/rope.py turns it. @param {Pair} pair @param {number} angle @returns {Pair} */
export function rotatePair([a, b], angle) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [a * cos - b * sin, b * cos + a * sin];
}

/**
 * What one pair adds to q.k when the query stands at `qAt` and the key at `kAt`.
 * @param {Pair} q @param {Pair} k
 * @param {number} turns radians per position
 * @param {number} qAt @param {number} kAt
 */
export function pairProduct(q, k, turns, qAt, kAt) {
  const [one, other] = [rotatePair(q, qAt * turns), rotatePair(k, kAt * turns)];
  return one[0] * other[0] + one[1] * other[1];
}

/** q.k over all pairs. */
/** @param {Pair[]} q @param {Pair[]} k @param {number[]} turns @param {number} qAt @param {number} kAt */
export function rotatedScore(q, k, turns, qAt, kAt) {
  return turns.reduce((sum, speed, i) => sum + pairProduct(q[i], k[i], speed, qAt, kAt), 0);
}
