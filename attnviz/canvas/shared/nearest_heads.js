// The heads whose rows are nearest to rows that a visitor asks for, and how near random rows come. Python's side is
// attnviz.analysis.heads.nearest_heads; tests/js/cases/nearest.json holds the two together.

import { attend } from "./attend.js";

/** @import { AllHeads } from "./raw_scores.js" */
/** @typedef {{ row: Float64Array, heads: Float64Array[] }} Pair a row that is asked for, and the same row of every head */
/** @typedef {{ head: number, divergence: number }} NearHead a head's place among all, and nats between it and the rows */

export const N_RANDOM = 1000;
/** @type {WeakMap<AllHeads, Float32Array[]>} weights of every head, (Q, K) */
const weightsOf = new WeakMap();

/** The rows that are asked for: those with any weight above 0. @param {AllHeads} all @param {Float32Array} wanted (Q, K) */
export function pairsOf(all, wanted) {
  const [, nk] = all.heads[0].shape;
  const known = weightsOf.get(all);
  const weights = known ?? all.heads.map((raw) => (raw.exact ? attend(raw, raw.mask, raw.scale) : raw.scores));
  weightsOf.set(all, weights);
  /** @type {Pair[]} */
  const pairs = [];
  for (let from = 0; from < wanted.length; from += nk) {
    const row = shares(wanted.subarray(from, from + nk));
    if (row.some((share) => share > 0))
      pairs.push({ row, heads: weights.map((each) => shares(each.subarray(from, from + nk))) });
  }
  return pairs;
}

/** Numbers as shares of their sum. @param {ArrayLike<number>} numbers */
export function shares(numbers) {
  const sum = Float64Array.from(numbers).reduce((all, number) => all + number, 0);
  return Float64Array.from(numbers, (number) => (sum > 0 ? number / sum : 0));
}

/** @param {number} p */
const surprise = (p) => (p > 0 ? -p * Math.log(p) : 0);

/** The Jensen-Shannon divergence of two rows in nats. @param {Float64Array} p @param {Float64Array} q sums to 1 */
export function jensenShannon(p, q) {
  let sum = 0;
  let [ofP, ofQ] = [0, 0];
  for (let k = 0; k < p.length; k++) {
    ofP += p[k];
    if (q[k] === 0) continue; // here both sides have the same but for a factor, which ln 2 / 2 stands for
    sum += surprise((p[k] + q[k]) / 2) - surprise(p[k] / 2);
    ofQ += surprise(q[k]);
  }
  return Math.max(0, sum + (ofP * Math.LN2 - ofQ) / 2);
}

/** The heads nearest to the rows by the mean over them, the nearest first. @param {Pair[]} pairs @returns {NearHead[]} */
export function nearestHeads(pairs, most = 5) {
  const all = pairs[0].heads.map((_row, head) => ({
    head,
    divergence: pairs.reduce((sum, { row, heads }) => sum + jensenShannon(heads[head], row), 0) / pairs.length,
  }));
  return all.sort((a, b) => a.divergence - b.divergence).slice(0, most);
}

/**
 * Counts how many random rows have a head as near: the same numbers on other words, the largest on another one. It stops
 * after each random row, so that a frame can be drawn in between; its result is the count.
 * @param {Pair[]} pairs @param {number} nearest the divergence of the nearest head
 * @returns {Generator<void, number>}
 */
export function* countByChance(pairs, nearest, n = N_RANDOM) {
  const random = randomNumbers(1);
  const limit = (nearest + 1e-12) * pairs.length;
  const many = pairs[0].heads.length;
  const seen = pairs.map(({ row, heads }) => visiblePlaces(row, heads));
  let count = 0;
  for (let i = 0; i < n; i++) {
    const rows = pairs.map(({ row }, at) => shuffled(row, seen[at], random));
    for (let head = 0; head < many; head++) {
      let sum = 0;
      for (let at = 0; at < pairs.length && sum <= limit; at++) sum += jensenShannon(pairs[at].heads[head], rows[at]);
      if (sum > limit) continue;
      count += 1;
      break;
    }
    yield;
  }
  return count;
}

/** The words that any head looks at. @param {Float64Array} row @param {Float64Array[]} heads */
function visiblePlaces(row, heads) {
  return Array.from(row.keys()).filter((k) => row[k] > 0 || heads.some((head) => head[k] > 0));
}

/** @param {Float64Array} row @param {number[]} places @param {() => number} random */
function shuffled(row, places, random) {
  const order = places.map((_place, i) => i);
  const swap = (/** @type {number} */ a, /** @type {number} */ b) => ([order[a], order[b]] = [order[b], order[a]]);
  for (let i = order.length - 1; i > 0; i--) swap(i, Math.floor(random() * (i + 1)));
  const largest = places.reduce((best, place, i) => (row[place] > row[places[best]] ? i : best), 0);
  if (order[largest] === largest && order.length > 1)
    swap(largest, (largest + 1 + Math.floor(random() * (order.length - 1))) % order.length);
  const found = new Float64Array(row.length);
  places.forEach((place, i) => (found[place] = row[places[order[i]]]));
  return found;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). @param {number} seed */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
