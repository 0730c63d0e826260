// How wide a text is, from a table of the letters of the pictures' font: the same on screen, in files and without a browser.

import ADVANCES from "./advance_widths.json" with { type: "json" };
import { SIGNS } from "./signs.js";

/** @typedef {400 | 600} Weight */

/** Streamlit's own name for the same font stands second: on its pages that is the one that is there. */
export const FAMILY =
  "'Source Sans 3', 'Source Sans', system-ui, 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif";

/** Thousandths of the size for letters that the font lacks: Chinese, Japanese and Korean signs and emoji, and others. */
const WIDE = 1000;
const OTHER = 600;
const IS_WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const TAKES_NO_ROOM = /\p{M}|[\u200b-\u200f]|[\u2060-\u2069]|\ufe0f/u;

/** @type {Record<Weight, Map<string, number>>} */
const KNOWN = { 400: new Map(Object.entries(ADVANCES["400"])), 600: new Map(Object.entries(ADVANCES["600"])) };

/** @param {string} letter */
function advanceOfOther(letter) {
  if (letter in SIGNS) return 1000 * SIGNS[letter].advance;
  if (TAKES_NO_ROOM.test(letter)) return 0;
  return IS_WIDE.test(letter) ? WIDE : OTHER;
}

/** Pixels that a line of text takes at this size. @param {string} text @param {number} size @param {Weight} [weight] */
export function textWidth(text, size, weight = 400) {
  const known = KNOWN[weight];
  let sum = 0;
  for (const letter of text) {
    let advance = known.get(letter);
    if (advance === undefined) {
      advance = advanceOfOther(letter);
      known.set(letter, advance);
    }
    sum += advance;
  }
  return (sum * size) / 1000;
}

/** Lines of a text of at most `room` pixels, broken at blanks that may break, and inside a word that is wider. */
/** @param {string} text @param {number} room @param {number} size @param {Weight} [weight] */
export function wrapText(text, room, size, weight = 400) {
  /** @type {string[]} */
  const lines = [];
  let line = "";
  for (const word of text.split(/(?<=[^\S\u00a0])|(?=[\u3001\u3002\uff0c\u4e00-\u9fff])/u)) {
    if (textWidth(line + word.trimEnd(), size, weight) <= room) {
      line += word;
      continue;
    }
    if (line.trim()) lines.push(line.trim());
    line = "";
    for (const letter of word) {
      if (textWidth(line + letter, size, weight) > room && line) {
        lines.push(line);
        line = "";
      }
      line += letter;
    }
  }
  if (line.trim()) lines.push(line.trim());
  return lines;
}
