// What a touched word takes from each other word in one head, what it would take in every head, and the sentence about it.

import { attend } from "../shared/attend.js";
import { fill, joinTexts, visibleToken } from "../shared/dom.js";
import { editedMask, scaleFactor } from "../shared/edit.js";
import { ALIKE, guessSentence, leadOver } from "../shared/guess.js";
import { markToken, unmarked } from "../shared/marked_text.js";
import { formatPercent, formatTypeset, toSignificant } from "../shared/numbers.js";

/** @import { Edit, RawHead, RibbonsFigureHeader, RibbonsState, Words } from "../shared/types.js" */
/**
 * Weights of one head under a mask and a scale, row by row; `allowed`: one a cell, null where every query may attend to every
 * key.
 * @typedef {{ n: number, tokens: string[], glued: number[], weights: Float32Array, allowed: Uint8Array | null, raw: RawHead, factor: number }} Head
 * The word, whether it looks ("q") or is looked at ("k"); whether somebody is asked where, and the word that he expected.
 * @typedef {Pick<RibbonsState, "word" | "axis" | "pinned"> & { asked?: boolean, guess?: number | null }} Touched
 */

/** A weight from which a word is named, and how many are, at most. */
const [NAMED, MOST_NAMED] = [0.05, 3];

/** @param {Pick<RibbonsFigureHeader, "q" | "glued">} header @param {RawHead} raw @param {Edit} edit @returns {Head} */
export function computeHead({ q: tokens, glued }, raw, edit) {
  const allowed = editedMask(edit, raw);
  const factor = scaleFactor(edit, raw);
  const weights = raw.exact ? attend(raw, allowed, factor) : raw.scores;
  return { n: tokens.length, tokens, glued, weights, allowed, raw, factor };
}

/** The weights of the touched word: of its row, or of its column; null where the mask hides; all alike while somebody is asked. */
/** @param {Head} head @param {Touched} touched */
export function touchedWeights({ n, weights, allowed }, { word, axis, asked }) {
  const shares = Array.from({ length: n }, (_none, i) => {
    const cell = axis === "q" ? word * n + i : i * n + word;
    return allowed && !allowed[cell] ? null : weights[cell];
  });
  const even = 1 / shares.filter((share) => share !== null).length;
  return asked ? shares.map((share) => share && even) : shares;
}

/**
 * How much a head tells of the touched word: the largest weight beside that of itself, and of the first token, on which many
 * heads rest.
 * @param {RawHead} raw @param {Edit} edit @param {Touched} touched
 */
export function tellingWeight(raw, edit, { word, axis }) {
  const n = raw.shape[0];
  const [allowed, factor] = [editedMask(edit, raw), scaleFactor(edit, raw)];
  const part = (/** @type {any} */ all) => all && all.subarray(word * n, (word + 1) * n);
  const one = axis === "q" ? { ...raw, shape: /** @type {[number, number]} */ ([1, n]), scores: part(raw.scores), bias: part(raw.bias) } : raw; // prettier-ignore
  const weights = attend(one, axis === "q" ? part(allowed) : allowed, factor);
  let most = 0;
  for (let i = 0; i < n; i++) {
    const isTelling = i !== word && (axis === "k" || i > 0);
    if (isTelling) most = Math.max(most, axis === "q" ? weights[i] : weights[i * n + word]);
  }
  return most;
}

/** A word as it is named: with its position where it stands there more than once. @param {string[]} tokens @param {number} i */
export function wordName(tokens, i) {
  const texts = tokens.map((token) => visibleToken(token).trim());
  return texts.filter((text) => text === texts[i]).length > 1 ? `${texts[i]} (${i})` : texts[i];
}

/** Sentences without the marks around their names, as one text. @param {string[]} sentences @param {Words} words */
export function plainText(sentences, words) {
  return unmarked(joinTexts(words.join_sentences, sentences));
}

/** Sentences under the ribbons: the one thing to see in them, and who else does the same. @param {Head} head @param {Touched} touched @param {Edit} edit @param {Words} words */
export function describeTouched(head, touched, edit, words) {
  const shares = touchedWeights(head, touched);
  const { asked, guess = null } = touched;
  if (asked) return [fill(words.asked, { token: namesIn(head, touched)(touched.word) }), words.guess_alike];
  if (guess !== null && touched.pinned === null)
    return [
      guessSentence(shares, guess, wordName(head.tokens, guess), words),
      describeMixture(head, touched, shares, words),
    ];
  const sentences =
    touched.pinned !== null && shares[touched.pinned] !== null
      ? [describePair(head, touched, words)]
      : touched.axis === "q"
        ? [describeMixture(head, touched, shares, words), describeOthers(head, touched, shares, words)]
        : [describeLookers(head, touched, shares, words)];
  return [...sentences, describeLater(touched, shares, edit, words)].filter(Boolean);
}

/** @param {Head} head @param {Touched} touched */
function namesIn({ tokens }, { word, axis }) {
  const other = axis === "q" ? "k" : "q";
  return (/** @type {number} */ i) => markToken(i === word ? axis : other, wordName(tokens, i));
}

/** @param {number} share */
const percent = (share) => formatPercent(share, 0);

/** Whether a row gives one key at least half, and more than any other. @param {ArrayLike<number>} row @param {number} key */
function isMostly(row, key) {
  return row[key] >= 0.5 && leadOver(row, key) >= ALIKE;
}

/** What the touched word becomes. @param {Head} head @param {Touched} touched @param {(number | null)[]} shares @param {Words} words */
function describeMixture(head, touched, shares, words) {
  const name = namesIn(head, touched);
  const token = name(touched.word);
  const seen = shares.flatMap((share, i) => (share === null ? [] : [{ i, share }]));
  if (!seen.length) return fill(words.empty, { token });
  const order = seen.toSorted((a, b) => b.share - a.share || a.i - b.i);
  const [first, last] = [order[0], order[order.length - 1]];
  const names = { token, key: name(first.i), share: percent(first.share), count: seen.length };
  if (seen.length === 1) return fill(first.i === touched.word ? words.alone : words.only, names);
  if (first.share - last.share < ALIKE) return fill(words.alike, names);
  if (first.share < 0.5 || first.share - order[1].share < ALIKE) {
    const named = order.slice(0, MOST_NAMED).filter(({ share }) => share >= NAMED);
    const parts = named.map(({ i, share }) => fill(words.part, { key: name(i), share: percent(share) }));
    return fill(words.mixture, { token, parts: joinTexts(words.join_things, parts) });
  }
  return fill(first.i === touched.word ? words.keeps : words.becomes, names);
}

/** Which other words become mostly the same one. @param {Head} head @param {Touched} touched @param {(number | null)[]} shares @param {Words} words */
function describeOthers(head, touched, shares, words) {
  const { n } = head;
  const seen = shares.map((share) => share ?? 0);
  const key = seen.indexOf(Math.max(...seen));
  if (!isMostly(seen, key) || key === touched.word) return "";
  /** @type {{ i: number, share: number }[]} */
  const others = [];
  let could = 0;
  for (let q = 0; q < n; q++) {
    if (q === touched.word || q === key || (head.allowed && !head.allowed[q * n + key])) continue;
    const row = head.weights.subarray(q * n, (q + 1) * n);
    could += 1;
    if (isMostly(row, key)) others.push({ i: q, share: row[key] });
  }
  if (!others.length) return "";
  const most = others.reduce((a, b) => (b.share > a.share ? b : a));
  const about = { count: others.length, other: namesIn(head, touched)(most.i), share: percent(most.share) };
  if (others.length === 1) return fill(words.one_more, about);
  const first = others.filter(({ share }) => percent(share) === about.share).length;
  const areAlike = first === others.length;
  if (first > 1 && !areAlike) return fill(words.some_up_to, about);
  const [some, all] = areAlike ? [words.some_alike, words.all_the_same] : [words.some_more, words.all_more];
  return fill(others.length === could ? all : some, about);
}

/** Who looks at the touched word. @param {Head} head @param {Touched} touched @param {(number | null)[]} shares @param {Words} words */
function describeLookers(head, touched, shares, words) {
  const { n, weights } = head;
  const name = namesIn(head, touched);
  const lookers = shares.flatMap((share, i) => (share === null || i === touched.word ? [] : [{ i, share }]));
  const token = name(touched.word);
  const most = lookers.reduce((a, b) => (b.share > a.share ? b : a), { i: -1, share: 0 });
  if (most.share < 0.01) return fill(words.unseen, { token });
  const count = lookers.filter(({ i }) => leadOver(weights.subarray(i * n, (i + 1) * n), touched.word) >= ALIKE).length;
  const alike = lookers.filter(({ share }) => share > most.share - ALIKE).length;
  const about = { token, query: name(most.i), share: percent(most.share), count: alike };
  const told = fill(alike === 1 ? words.looked : words.looked_alike, about);
  return joinTexts(words.join_sentences, [
    told,
    count ? fill(words.lookers, { count, total: lookers.length, token }) : "",
  ]);
}

/** Where the weight of a pinned word comes from. @param {Head} head @param {Touched} touched @param {Words} words */
function describePair(head, touched, words) {
  const { n, weights, raw, factor } = head;
  const name = namesIn(head, touched);
  const other = /** @type {number} */ (touched.pinned);
  const [q, k] = touched.axis === "q" ? [touched.word, other] : [other, touched.word];
  const cell = q * n + k;
  const told = fill(words.pair, { query: name(q), key: name(k), share: percent(weights[cell]) });
  if (!raw.exact || raw.bias || raw.softcap !== null) return told;
  const score = raw.scores[cell];
  const how = { score: formatTypeset(score), factor: toSignificant(factor, 3), scaled: formatTypeset(score * factor) };
  return joinTexts(words.join_sentences, [told, fill(words.pair_from, { ...how, share: percent(weights[cell]) })]);
}

/** What a mask that is taken away lets in. @param {Touched} touched @param {(number | null)[]} shares @param {Edit} edit @param {Words} words */
function describeLater({ word, axis, pinned }, shares, edit, words) {
  if (edit.mask !== "none" || axis === "k" || pinned !== null) return "";
  const later = shares.slice(word + 1).reduce((/** @type {number} */ sum, share) => sum + (share ?? 0), 0);
  return later >= 0.005 ? fill(words.later, { share: percent(later) }) : "";
}
