// A guess before the truth: which row is asked about, and what is said of the key that somebody expected it to look at most.

import { fill } from "./dom.js";
import { markToken } from "./marked_text.js";
import { formatPercent } from "./numbers.js";

/** @import { Shape, Words } from "./types.js" */

/** Two weights as near as this are alike. */
export const ALIKE = 1e-3;

/**
 * The row to ask about: the one with the largest weight beside those of itself and of the first key, on which many heads
 * rest; if possible none that looks where the row on show does, whose sentence may have told of it.
 * @param {Float32Array} weights @param {Shape} shape @param {number} shown @param {Set<number>} asked rows that have been asked about
 */
export function rowToAsk(weights, [nq, nk], shown, asked) {
  const keys = Array.from({ length: nk }, (_none, k) => k);
  const weight = (/** @type {number} */ q, /** @type {number} */ k) => (k === 0 || k === q ? 0 : weights[q * nk + k]);
  const rows = Array.from({ length: nq }, (_none, q) => {
    const key = keys.reduce((most, k) => (weight(q, k) > weight(q, most) ? k : most), 0);
    return { q, key, most: weight(q, key) };
  });
  const known = rows[shown]?.key;
  const open = rows.filter(({ q, most }) => q !== shown && most > 0 && !asked.has(q));
  const [first] = open.toSorted((a, b) => Number(a.key === known) - Number(b.key === known) || b.most - a.most);
  return first?.q ?? null;
}

/** The row to ask about next: one that was not asked about, else one of them again. @type {typeof rowToAsk} */
export const nextToAsk = (weights, shape, shown, asked) =>
  rowToAsk(weights, shape, shown, asked) ?? rowToAsk(weights, shape, shown, new Set());

/** How much more a row gives one key than the next of the others. @param {ArrayLike<number>} row @param {number} key */
export function leadOver(row, key) {
  let next = 0;
  for (let i = 0; i < row.length; i++) if (i !== key) next = Math.max(next, row[i]);
  return row[key] - next;
}

/** Where most of a row goes; null where several keys get as much. @param {(number | null)[]} shares @param {(key: number) => string} name @param {Words} words */
export function mostSentence(shares, name, words) {
  const row = shares.map((share) => share ?? 0);
  const most = row.indexOf(Math.max(...row));
  if (leadOver(row, most) < ALIKE) return null;
  return fill(words.guess_most, { key: markToken("k", name(most)), share: formatPercent(row[most], 0) });
}

/** What is said of a guess. @param {(number | null)[]} shares of each key, null where the mask hides it @param {number} guess @param {string} name of that key @param {Words} words */
export function guessSentence(shares, guess, name, words) {
  const share = shares[guess];
  const key = markToken("k", name);
  if (share === null) return fill(words.guess_hidden, { key });
  const isRight = share >= Math.max(...shares.map((one) => one ?? 0)) - ALIKE;
  return fill(isRight ? words.guess_right : words.guess_other, { key, share: formatPercent(share, 0) });
}
