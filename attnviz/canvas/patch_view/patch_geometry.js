// Where patches lie on a picture that is `width` wide and `height` high on screen.

import { ARROWS, STEPS } from "../shared/controls.js";
import { clamp } from "../shared/numbers.js";
import { cellsBetween } from "../shared/zoom.js";

/** @import { PatchHeader, Rectangle } from "../shared/types.js" */
/** @typedef {{ width: number, height: number }} Size */

/** The rectangle of a patch, in CSS pixels. */
/** @param {number} patch @param {PatchHeader["grid"]} grid @param {Size} size @returns {Rectangle} */
export function patchAt(patch, { rows, columns }, { width, height }) {
  const [row, column] = [Math.floor(patch / columns), patch % columns];
  const [x, y] = [Math.round((column * width) / columns), Math.round((row * height) / rows)];
  const [right, low] = [Math.round(((column + 1) * width) / columns), Math.round(((row + 1) * height) / rows)];
  return { x, y, w: right - x, h: low - y };
}

/** Where windows of `side` patches that are moved by `shift` meet, along an axis of `count` patches. */
/** @param {number} side @param {number} shift @param {number} count */
export function bordersAt(side, shift, count) {
  const places = [];
  for (let at = 1; at < count; at++) if ((((at - shift) % side) + side) % side === 0) places.push(at);
  return places;
}

/** The patch under a point; null beside the picture. */
/** @param {number} x @param {number} y @param {PatchHeader["grid"]} grid @param {Size} size */
export function patchUnder(x, y, { rows, columns }, { width, height }) {
  const [column, row] = [Math.floor((x / width) * columns), Math.floor((y / height) * rows)];
  if (column < 0 || row < 0 || column >= columns || row >= rows) return null;
  return row * columns + column;
}

/** The patches on the way from one to another, so that a quick hand paints a line without gaps. */
/** @param {number} from @param {number} to @param {number} columns */
export function patchesBetween(from, to, columns) {
  const [r0, c0, r1, c1] = [Math.floor(from / columns), from % columns, Math.floor(to / columns), to % columns];
  return cellsBetween([r0, c0], [r1, c1]).map(([row, column]) => row * columns + column);
}

/** The patch one step of an arrow key away, stopped by the edges. */
/** @param {number} patch @param {string} key @param {PatchHeader["grid"]} grid */
export function stepFrom(patch, key, { rows, columns }) {
  const [row, column] = [Math.floor(patch / columns), patch % columns];
  const by = ARROWS[key];
  if (by === undefined) return null;
  const [r, c] = [row + by[0], column + by[1]];
  return r < 0 || c < 0 || r >= rows || c >= columns ? patch : r * columns + c;
}

/** The word one step of an arrow key away, stopped by the first and the last. */
/** @param {number} word @param {string} key @param {number} count */
export function wordFrom(word, key, count) {
  return key in STEPS ? clamp(word + STEPS[key], 0, count - 1) : null;
}

/** The largest size of a picture's shape within these bounds. */
/** @param {Size} picture @param {number} most @param {number} tallest @returns {Size} */
export function fitted({ width, height }, most, tallest) {
  const times = Math.min(most / width, tallest / height);
  return { width: Math.max(1, Math.round(width * times)), height: Math.max(1, Math.round(height * times)) };
}

/** Pixels that words and buttons beside a picture take, and the gap before them. */
const WORDS = 290;

/**
 * The size of a picture that leaves room for its words beside it; null where that would make it smaller than `above`,
 * which it has with the words below it.
 * @param {Size} picture @param {number} most @param {number} tallest @param {Size} above @returns {Size | null}
 */
export function besideWords(picture, most, tallest, above) {
  if (most <= WORDS) return null;
  const size = fitted(picture, most - WORDS, tallest);
  return size.width < above.width ? null : size;
}
