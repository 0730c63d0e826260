// The words of a head on a dial: each key is a hand, which RoPE turns by its place; the query's hand shows where it looks. Beside
// it the sentence in order, with q·k and the weights of the word that looks; below, what each pair adds. No page.

import { filmOfSteps } from "../scene/film.js";
import { drawMarks, mark, textMark } from "../scene/marks.js";
import { textWidth, wrapText } from "../scene/text_width.js";
import { pairProduct, rotatedScore, rotatePair } from "./rotation.js";
import { softmax } from "../shared/attend.js";
import { fill, joinTexts, visibleToken } from "../shared/dom.js";
import { clamp, formatFixed, formatPercent, formatTypeset } from "../shared/numbers.js";
import { markToken, unmarked } from "../shared/marked_text.js";
import { toFloats } from "../shared/packing.js";
import { writeText } from "../shared/surface.js";

/** @import { DialHeader, DrawingContext, Film, ForFile, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { Mark } from "../scene/marks.js" */
/** @typedef {Pick<DialHeader, "tokens" | "turns" | "scale" | "words">} Told */
/** @typedef {[number, number]} Pair */
/** @typedef {{ q: Pair[][], k: Pair[][] }} Vectors of each word all pairs, not turned */
/** @typedef {{ at: number, order: number[], row: number, pair: number, pointed?: number | null }} Dial */
/** @typedef {{ width: number, height: number, theme: Theme }} Look */

const [NARROW, GAP, HEAD, LABELS, PAIRS] = [640, 44, 24, 44, 92];
/** Pixels of the dial where it stands above the sentence. */
const SMALL = 270;
/** Pixels of a row at least and at most, and of its columns: the number, the weight. */
const [LEAST, MOST, NUMBER, SHARE] = [22, 34, 62, 52];
/** The longest key's share of the dial; the query's hand reaches its rim. */
const KEYS = 0.86;
const [WIDE, UPRIGHT, HIGH] = [960, 420, 470];

/** @param {Pick<DialHeader, "tokens" | "turns">} header @param {Uint8Array} payload @returns {Vectors} */
export function readVectors({ tokens, turns }, payload) {
  const numbers = toFloats(payload);
  const [words, pairs] = [tokens.length, turns.length];
  const read = (/** @type {number} */ from) =>
    tokens.map((_token, word) =>
      turns.map((_turn, pair) => {
        const at = 2 * (from + word * pairs + pair);
        return /** @type {Pair} */ ([numbers[at], numbers[at + 1]]);
      }),
    );
  return { q: read(0), k: read(words * pairs) };
}

/** Of the word that looks q·k with each word, and its weights; null of those that stand after it. */
/** @param {Pick<DialHeader, "turns" | "scale">} header @param {Vectors} vectors @param {Dial} dial */
export function lookedAt({ turns, scale }, { q, k }, { at, order, row }) {
  const places = order.map((_word, word) => order.indexOf(word));
  const scores = places.map((place, word) =>
    place > places[row] ? null : rotatedScore(q[row], k[word], turns, (places[row] * at) / 100, (place * at) / 100),
  );
  const shares = softmax(Float64Array.from(scores, (score) => (score === null ? -Infinity : score * scale)));
  const weights = scores.map((score, word) => (score === null ? null : shares[word]));
  const key = shares.indexOf(Math.max(...shares));
  return { places, scores, weights, key };
}

/** @param {Told} header @param {Vectors} vectors @param {Dial} dial */
export function dialSentence(header, vectors, dial) {
  const { words, tokens } = header;
  const typed = { ...dial, at: 100, order: tokens.map((_token, word) => word) };
  const [now, was] = [dial, typed].map((each) => lookedAt(header, vectors, each));
  const name = (/** @type {number} */ word, axis = /** @type {"q" | "k"} */ ("k")) =>
    markToken(axis, visibleToken(tokens[word]));
  const n = now.places[dial.row] - now.places[now.key];
  const share = formatPercent(now.weights[now.key] ?? 0, 0);
  const first = fill(now.places[dial.row] ? (n ? words.most : words.own) : words.first, {
    ...{ query: name(dial.row, "q"), key: name(now.key), n, share },
  });
  const isTyped = dial.at === 100 && dial.order.every((word, place) => word === place);
  const typedShare = formatPercent(was.weights[was.key] ?? 0, 0);
  return joinTexts(words.join_sentences, [
    first,
    dial.at ? "" : words.unturned,
    isTyped ? "" : fill(words.typed, { key: name(was.key), share: typedShare }),
  ]);
}

/** Where all of it stands. @param {number} count words @param {Look} look */
export function dialLayout(count, { width, height }) {
  const narrow = width < NARROW;
  const side = narrow ? SMALL : clamp(height - PAIRS - 8, 240, Math.min(420, width * 0.44));
  const left = narrow ? 0 : side + GAP;
  const top = narrow ? side + PAIRS + 24 : 0;
  const row = clamp((height - HEAD) / count, LEAST, MOST);
  const room = narrow ? width : side; // of the dial and its labels
  const pairs = { x: 0, y: side + 30, w: room, h: PAIRS - 30 };
  const rows = { x: left, y: top + HEAD, w: width - left, h: row };
  const end = rows.y + count * row;
  const face = { room, x: room / 2, y: side / 2 + 14, radius: side / 2 - LABELS };
  return { narrow, face, pairs, rows, height: Math.max(side + PAIRS, end) + 4 };
}

/** All that is seen. @param {Told} header @param {Vectors} vectors @param {Dial} dial @param {Look} look */
export function dialMarks(header, vectors, dial, look) {
  const { tokens, turns, words } = header;
  const { theme } = look;
  const layout = dialLayout(tokens.length, look);
  const seen = lookedAt(header, vectors, dial);
  const { pointed } = dial;
  const shown = pointed !== null && pointed !== undefined && seen.weights[pointed] !== null ? pointed : seen.key;
  const name = (/** @type {number} */ word) => visibleToken(tokens[word]);
  /** @type {Mark[]} */
  const marks = [];
  const { face, pairs, rows } = layout;
  const { radius } = face;
  const label = fill(words.dial, { pair: dial.pair, degrees: formatFixed((turns[dial.pair] * 180) / Math.PI, 1) });
  marks.push(textMark("dial", label, { x: 0, y: 9, weight: 600, colour: theme.text }));
  marks.push(mark("rim", "disc", { x: face.x, y: face.y, size: radius + 1, colour: theme.border }));
  marks.push(mark("face", "disc", { x: face.x, y: face.y, size: radius, colour: theme.background }));
  const longest = Math.max(1e-9, ...vectors.k.map((k) => Math.hypot(...k[dial.pair])));
  const angle = (/** @type {number} */ word) => (turns[dial.pair] * seen.places[word] * dial.at) / 100;
  const hand = (/** @type {string} */ key, /** @type {Pair} */ pair, /** @type {number} */ word, /** @type {Partial<Mark>} */ fields) => {
    const long = key === "query" ? radius / (Math.hypot(...pair) || 1) : (KEYS * radius) / longest;
    const [x, y] = rotatePair(pair, angle(word)).map((part) => part * long);
    marks.push(mark(key, "line", { x: face.x, y: face.y, w: x, h: -y, ...fields }));
    return { x: face.x + x, y: face.y - y, along: Math.atan2(y, x) };
  };
  const taken = /** @type {{ x: number, y: number, w: number }[]} */ ([]);
  const ring = (/** @type {string} */ key, /** @type {string} */ text, /** @type {number} */ along, /** @type {Partial<Mark>} */ fields) => {
    const w = textWidth(text, 13, 600);
    for (const out of [14, 30, 46]) {
      const [cos, sin] = [Math.cos(along), Math.sin(along)];
      const x = clamp(face.x + (radius + out) * cos + (cos * w) / 2 - w / 2, 0, face.room - w);
      const y = face.y - (radius + out) * sin;
      if (taken.some((one) => Math.abs(one.y - y) < 15 && x < one.x + one.w + 4 && one.x < x + w + 4)) continue;
      taken.push({ x, y, w });
      marks.push(textMark(key, text, { x, y, size: 13, ...fields }));
      return;
    }
  };
  const byWeight = dial.order.toSorted((a, b) => (seen.weights[b] ?? -1) - (seen.weights[a] ?? -1));
  const query = hand("query", vectors.q[dial.row][dial.pair], dial.row, { size: 5, colour: theme.q });
  marks.push(mark("query-tip", "disc", { x: query.x, y: query.y, size: 6, colour: theme.q }));
  for (const word of byWeight) {
    const weight = seen.weights[word];
    const alpha = weight === null ? 0.2 : 0.45 + 0.55 * weight;
    const tip = hand(`hand-${word}`, vectors.k[word][dial.pair], word, { size: word === shown ? 3.5 : 2, colour: theme.k, alpha });
    marks.push(mark(`tip-${word}`, "disc", { x: tip.x, y: tip.y, size: 2.5 + 9 * Math.sqrt(weight ?? 0), colour: theme.k, alpha }));
    const strong = word === shown || word === dial.row;
    ring(`name-${word}`, name(word), tip.along, { colour: word === shown ? theme.k : theme.text, weight: strong ? 600 : 400, alpha: weight === null ? 0.6 : 1 });
  }
  const bar = rows.w - NUMBER - SHARE - wordRoom(tokens, rows.w);
  marks.push(textMark("h-score", words.product, { x: rows.x + rows.w - bar - SHARE - 22 - textWidth(words.product, 13), y: rows.y - 14, size: 13, colour: theme.text }));
  const heading = fill(words.weight, { query: name(dial.row) });
  marks.push(textMark("h-weight", heading, { x: rows.x + rows.w - bar - SHARE, y: rows.y - 14, size: 13, colour: theme.text }));
  dial.order.forEach((word, place) => marks.push(...rowMarks(header, seen, dial, word, rows.y + place * rows.h, look)));
  const products = turns.map((speed, pair) => pairProduct(vectors.q[dial.row][pair], vectors.k[shown][pair], speed, (seen.places[dial.row] * dial.at) / 100, (seen.places[shown] * dial.at) / 100));
  const top = Math.max(...products.map(Math.abs), 1e-9);
  const [pitch, zero] = [pairs.w / turns.length, pairs.y + pairs.h / 2];
  wrapText(fill(words.pairs, { query: name(dial.row), key: name(shown) }), pairs.w, 13).slice(0, 1).forEach((line) =>
    marks.push(textMark("h-pairs", line, { x: 0, y: pairs.y - 12, size: 13, colour: theme.text })));
  marks.push(mark("zero", "box", { x: 0, y: zero, w: pairs.w, h: 1, colour: theme.text, alpha: 0.4 }));
  products.forEach((product, pair) => {
    const h = (Math.abs(product) / top) * (pairs.h / 2 - 1);
    const place = { x: pair * pitch + 0.5, y: product > 0 ? zero - h : zero, w: Math.max(1, pitch - 1), h: Math.max(1, h) };
    const colour = pair === dial.pair ? theme.primary : theme.text;
    marks.push(mark(`pair-${pair}`, "box", { ...place, colour, alpha: pair === dial.pair ? 1 : 0.45 }));
  });
  return marks;
} // prettier-ignore

/** Pixels of the words. @param {string[]} tokens @param {number} width */
export function wordRoom(tokens, width) {
  const widest = Math.max(...tokens.map((token) => textWidth(visibleToken(token), 15, 600)));
  return Math.min(widest, width * 0.36) + 26;
}

/** One word of the sentence with its numbers, from a height on. */
/** @param {Told} header @param {ReturnType<typeof lookedAt>} seen @param {Dial} dial @param {number} word @param {number} y @param {Look} look @returns {Mark[]} */
export function rowMarks({ tokens, words }, { scores, weights }, dial, word, y, look) {
  const { theme } = look;
  const { rows } = dialLayout(tokens.length, look);
  const [room, looks, weight, score] = [wordRoom(tokens, rows.w), word === dial.row, weights[word], scores[word]];
  const bar = rows.w - NUMBER - SHARE - room;
  const [left, middle] = [rows.x + rows.w - bar - SHARE, y + rows.h / 2];
  const [text] = wrapText(visibleToken(tokens[word]), room - 26, 15);
  const fields = { y: middle, size: 15, colour: looks ? theme.q : theme.text };
  const all = [
    mark(`row-${word}`, "box", { x: rows.x, y: y + 1, w: rows.w, h: rows.h - 2, colour: looks ? theme.q : theme.text, alpha: looks ? 0.13 : 0.04 }),
    textMark(`word-${word}`, text, { ...fields, x: rows.x + 10, weight: looks ? 600 : 400, alpha: weight === null ? 0.65 : 1 }),
  ]; // prettier-ignore
  if (weight === null || score === null)
    return [
      ...all,
      textMark(`none-${word}`, words.masked, { y: middle, x: left, size: 13, colour: theme.text, alpha: 0.6 }),
    ];
  const number = formatTypeset(score, 1);
  const share = formatPercent(weight, 0);
  const w = Math.max(1, weight * bar);
  return [
    ...all,
    textMark(`score-${word}`, number, { y: middle, x: left - 22 - textWidth(number, 14), colour: theme.text }),
    mark(`bar-${word}`, "box", { x: left, y: y + 5, w, h: rows.h - 10, colour: theme.weight }),
    textMark(`share-${word}`, share, { y: middle, x: left + w + 7, colour: theme.text, weight: weight > 0.5 ? 600 : 400 }),
  ]; // prettier-ignore
}

/** @param {ForFile<DialHeader>} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function dialFigure(header, payload, theme) {
  return figureAt(header, readVectors(header, payload), header.at, theme, header.title, WIDE);
}

/** @param {ForFile<DialHeader>} header @param {Vectors} vectors @param {number} at @param {Theme} theme @param {string} title @param {number} width @returns {Figure} */
function figureAt(header, vectors, at, theme, title, width) {
  const dial = { ...header, at };
  const look = { width, height: HIGH, theme };
  const { height } = dialLayout(header.tokens.length, look);
  const lines = wrapText(unmarked(dialSentence(header, vectors, dial)), width, 15);
  const draw = (/** @type {DrawingContext} */ context) => {
    drawMarks(context, dialMarks(header, vectors, dial, look), theme);
    lines.forEach((line, i) => writeText(context, line, 0, height + 14 + i * 22, theme, "15px"));
  };
  return { width, height: height + 8 + lines.length * 22, title, draw };
}

/** While the words turn. @param {ForFile<DialHeader>} header @param {Uint8Array} payload @returns {Film} */
export function dialFilm(header, payload) {
  const vectors = readVectors(header, payload);
  return filmOfSteps(header.words.film, 41, 5, (stop, theme, _bar, upright) =>
    figureAt(header, vectors, 2.5 * stop, theme, fill(header.words.share, { share: formatPercent(stop / 40, 0) }), upright ? UPRIGHT : WIDE),
  ); // prettier-ignore
}
