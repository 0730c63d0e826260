// Where the words of a sentence stand in lines, and which way a ribbon goes from one word to another.

import { visibleToken } from "../shared/dom.js";
import { clamp } from "../shared/numbers.js";
import { textWidth } from "../scene/text_width.js";

/** @typedef {{ x: number, line: number, width: number, text: string }} Place of a word: its middle */
/** @typedef {ReturnType<typeof placeWords>} Layout */
/** @typedef {{ texts: string[], glued: Set<number> }} Words */

/** Sizes of letters with the most lines that they may take, in a wide window and in a narrow one. */
const SIZES = {
  wide: [[40, 1], [36, 1], [32, 1], [28, 1], [26, 1], [30, 2], [26, 3], [22, Infinity]],
  narrow: [[26, 1], [22, 1], [26, 2], [24, 2], [22, 2], [26, 3], [22, Infinity]],
}; // prettier-ignore
const NARROW = 640;
/** Pixels of all ribbons of a word together: of a sentence in several lines, and in a narrow window. */
const [SEVERAL, SLENDER] = [64, 44];
/** Between two words, within one, and between parts of a character, as shares of the letters' size. */
const [BETWEEN, JOINED, APART] = [0.42, 0.06, 0.28];
/** A part of a character says which: it stands apart. */
const FRACTION = /\d\/\d$/;
/** Pixels of the smallest turn, between word and ribbons, and around a pill's text. */
export const [TURN, AIR, PAD] = [8, 6, 13];
/** How much ribbons rise on their way across, of what all of them are wide. */
export const RISING = 0.34;

/**
 * Words in lines, as large as fits; above the line of the touched word is room for its ribbons.
 * @param {string[]} tokens @param {number[]} glued those that no blank is before @param {number} word @param {number} width
 * @param {number | null} [high] pixels that the picture fills where it is presented
 */
export function placeWords(tokens, glued, word, width, high = null) {
  const all = { texts: tokens.map((token) => visibleToken(token).trim()), glued: new Set(glued) };
  const isNarrow = width < NARROW;
  const fitting = (isNarrow ? SIZES.narrow : SIZES.wide).map(([size, most]) => ({
    size,
    most,
    ...wrapWords(all, size, width),
  }));
  const { size, words, count } = /** @type {(typeof fitting)[0]} */ (fitting.find((one) => one.count <= one.most));
  const [pill, line, foot] = [Math.round(size * 0.95), Math.round(size * 1.2), isNarrow ? 20 : 26];
  const left = ((high ?? 0) - pill - line - foot - 2 * TURN - AIR - foot / 2) / (1 + RISING);
  const fitted = high === null ? clamp(width / 9, 76, 120) : clamp(left, 40, Math.min(200, width / 5));
  const slender = count === 1 ? clamp(width / 6.5, SLENDER, 76) : SLENDER;
  const thick = isNarrow ? slender : count === 1 ? fitted : SEVERAL;
  const rise = Math.round((1 + RISING) * thick) + 2 * TURN + AIR;
  const above = count === 1 ? 0 : thick + TURN; // for ribbons from the lines above
  const touched = words[word].line;
  const pitch = line + foot + (count === 1 ? 0 : foot); // a percent stands below a word, or above it
  const head = count === 1 ? 0 : foot;
  const room = pill + rise;
  const spread = touched || count === 1 ? 0 : above / (count - 1); // all is as high, whichever line is touched
  /** Where the letters of a line begin. @param {number} at */
  const top = (at) => at * (pitch + spread) + head + (at < touched ? 0 : room + (touched ? above : 0));
  const height = count * pitch + room + above;
  return { words, count, size, thick, pill, rise, line, foot, top, height, isNarrow };
}

/** Words in lines: what goes on a word stays with it, as far as a line has room. @param {Words} words @param {number} size @param {number} width */
function wrapWords({ texts, glued }, size, width) {
  const widths = texts.map((text) => Math.min(width, textWidth(text, size)));
  const joined = (/** @type {number} */ i) => (FRACTION.test(texts[i - 1]) ? APART : JOINED);
  const gap = (/** @type {number} */ i) => (glued.has(i) ? joined(i) : BETWEEN) * size;
  const together = (/** @type {number} */ i) => {
    let sum = widths[i];
    for (let next = i + 1; glued.has(next); next++) sum += gap(next) + widths[next];
    return sum <= width ? sum : widths[i];
  };
  let [end, line] = [0, 0];
  const words = texts.map((text, i) => {
    let left = i === 0 ? 0 : end + gap(i);
    if (i > 0 && left + (glued.has(i) ? widths[i] : together(i)) > width) [left, line] = [0, line + 1];
    end = left + widths[i];
    return { x: left + widths[i] / 2, line, width: widths[i], text };
  });
  return { words, count: line + 1 };
}

/** How far a quarter of a circle's control points are from its corner, as a share of its radius; pixels of the first turn at most. */
const [BEND, WIDEST_TURN] = [0.448, 70];

/**
 * Eleven points of a ribbon's middle: a line up, and three curves: a turn, a gentle rise across, a turn. What is near has no
 * way across, and is one slanting curve.
 * @param {number} x0 @param {number} y0 where it begins @param {number} x1 @param {number} y1 where it ends
 * @param {number} lane how high it comes across @param {number} rising how much it rises on its way
 */
export function ribbonPath(x0, y0, x1, y1, lane, rising = 0) {
  const [room, turn, up] = [x1 - x0, Math.abs(lane - y1), Math.sign(y0 - lane)];
  const high = Math.abs(y0 - lane);
  const across = Math.abs(room) - Math.min(high, WIDEST_TURN) - turn;
  const rise = Math.max(0, Math.min(rising, high - 4, 0.25 * across));
  const [low, first] = [lane + up * rise, Math.min(high - rise, WIDEST_TURN)];
  const bent = clamp(Math.abs(room) / (first + turn || 1), 0, 1);
  const [a, b] = [first, turn].map((radius) => Math.sign(room) * radius * bent);
  const [from, begin, end] = [low + up * first, x0 + a, x1 - b];
  const elbow = [x0, y0, x0, from, x0, low + (from - low) * BEND, x0 + a * BEND, low, begin, low, (begin + end) / 2, low, (begin + end) / 2, lane, end, lane, x1 - b * BEND, lane, x1, lane + (y1 - lane) * BEND, x1, y1]; // prettier-ignore
  const near = slantingPath(x0, y0, x1, y1);
  return elbow.map((value, i) => near[i] + bent * (value - near[i]));
}

/** The same points for one slanting curve. @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
export function slantingPath(x0, y0, x1, y1) {
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  return [x0, y0, x0, y0, x0, (y0 + y) / 2, (x0 + x) / 2, (y0 + 3 * y) / 4, x, y, x, y, x, y, x, y, (x1 + x) / 2, (y1 + 3 * y) / 4, x1, (y1 + y) / 2, x1, y1]; // prettier-ignore
}

/** The same points for a straight way. @param {number} x @param {number} y0 @param {number} y1 */
export function straightPath(x, y0, y1) {
  return Array.from({ length: 11 }, (_none, i) => [x, y0 + (i / 10) * (y1 - y0)]).flat();
}
