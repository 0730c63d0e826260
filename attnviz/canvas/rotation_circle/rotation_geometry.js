// RoPE's arithmetic, computed from nothing but positions: pairs of numbers, turned; and the arrows that show them.

/** @typedef {[number, number]} Pair */

/** A pair turned by an angle, as core/rope.py turns it. @param {Pair} pair @param {number} angle @returns {Pair} */
export function turned([a, b], angle) {
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
  const [one, other] = [turned(q, qAt * turns), turned(k, kAt * turns)];
  return one[0] * other[0] + one[1] * other[1];
}

/** q.k over all pairs. */
/** @param {Pair[]} q @param {Pair[]} k @param {number[]} turns @param {number} qAt @param {number} kAt */
export function score(q, k, turns, qAt, kAt) {
  return turns.reduce((sum, speed, i) => sum + pairProduct(q[i], k[i], speed, qAt, kAt), 0);
}

/**
 * An angle in degrees, from 0 up to 360, and how many whole turns were made before it.
 * @param {number} angle in radians
 */
export function asDegrees(angle) {
  const whole = Math.floor(angle / (2 * Math.PI) + 1e-12);
  return { degrees: Math.max(0, (angle - whole * 2 * Math.PI) * (180 / Math.PI)), whole };
}

/** How many pixels one unit is, so that both arrows fit on a canvas of this size with room for the names. */
/** @param {Pair} q @param {Pair} k @param {number} size */
export function unitPixels(q, k, size) {
  const longest = Math.max(Math.hypot(...q), Math.hypot(...k), 1e-9);
  return (size / 2 - 26) / longest;
}

/** Positions moved by `step` together, kept between 0 and `last` without changing their distance. */
/** @param {number} qAt @param {number} kAt @param {number} step @param {number} last @returns {[number, number]} */
export function movedTogether(qAt, kAt, step, last) {
  const kept = Math.max(-Math.min(qAt, kAt), Math.min(step, last - Math.max(qAt, kAt)));
  return [qAt + kept, kAt + kept];
}
