// How wide a text is, from a table of the letters of the pictures' font: the same on screen, in files and without a browser.

import ADVANCES from "./advance_widths.json" with { type: "json" };

/** @typedef {{ advance: number, lines: number[][] }} Sign lines as x0, y0, x1, y1... */

const HEAD = 0.16;
const MID = 0.28;
/** A lemniscate. */
const LOOPS = Array.from({ length: 25 }, (_none, n) => {
  const [sin, cos] = [Math.sin((n * Math.PI) / 12), Math.cos((n * Math.PI) / 12)];
  return [0.44 + (0.36 * cos) / (1 + sin * sin), MID + (0.5 * sin * cos) / (1 + sin * sin)];
}).flat();

/** @type {Record<string, Sign>} */
export const SIGNS = {
  "→": { advance: 0.86, lines: [[0.08, MID, 0.76, MID], [0.76 - HEAD, MID + HEAD, 0.76, MID, 0.76 - HEAD, MID - HEAD]] },
  "←": { advance: 0.86, lines: [[0.08, MID, 0.76, MID], [0.08 + HEAD, MID + HEAD, 0.08, MID, 0.08 + HEAD, MID - HEAD]] },
  "⏎": { advance: 0.8, lines: [[0.7, 0.62, 0.7, MID, 0.1, MID], [0.1 + HEAD, MID + HEAD, 0.1, MID, 0.1 + HEAD, MID - HEAD]] },
  "⇥": { advance: 0.86, lines: [[0.06, MID, 0.7, MID], [0.7 - HEAD, MID + HEAD, 0.7, MID, 0.7 - HEAD, MID - HEAD], [0.76, 0.1, 0.76, 0.46]] },
  "␣": { advance: 0.6, lines: [[0.06, 0.1, 0.06, -0.08, 0.54, -0.08, 0.54, 0.1]] },
  "∞": { advance: 0.88, lines: [LOOPS] },
  "Σ": { advance: 0.6, lines: [[0.54, 0.56, 0.54, 0.66, 0.06, 0.66, 0.34, 0.33, 0.06, 0, 0.54, 0, 0.54, 0.1]] },
  "ᵀ": { advance: 0.42, lines: [[0.04, 0.7, 0.38, 0.7], [0.21, 0.7, 0.21, 0.36]] },
  "√": { advance: 0.6, lines: [[0.04, 0.32, 0.14, 0.38, 0.28, 0, 0.5, 0.8, 0.6, 0.8]] },
  "✓": { advance: 0.72, lines: [[0.08, 0.28, 0.26, 0.06, 0.62, 0.6]] },
  "✗": { advance: 0.68, lines: [[0.1, 0.08, 0.56, 0.56], [0.12, 0.58, 0.54, 0.06]] },
}; // prettier-ignore

const EITHER = new RegExp(`([${Object.keys(SIGNS).join("")}])`, "u");

/** A text cut before and after each sign. @param {string} text */
export function splitAtSigns(text) {
  return text.split(EITHER).filter(Boolean);
}

/**
 * Puts the lines of a sign on a context's path.
 * @param {import("./svg_path.js").SvgPath} context @param {Sign} sign @param {number} x @param {number} base
 * @param {number} size
 */
export function tracePath(context, { lines }, x, base, size) {
  context.beginPath();
  for (const line of lines) {
    for (let i = 0; i < line.length; i += 2) {
      const [right, down] = [x + line[i] * size, base - line[i + 1] * size];
      if (i === 0) context.moveTo(right, down);
      else context.lineTo(right, down);
    }
  }
}

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

/** Pixels of letters at least while a page is presented, and how many times their size they become for it at most. */
const [READABLE, MOST] = [17, 1.7];

/** A window that is narrower is in a hand. */
const IN_HAND = 640;

/** The size in which letters are drawn: presented, small ones are larger. @param {number} size */
export function letterSize(size) {
  const isPresented = globalThis.document?.documentElement?.hasAttribute("data-present");
  return isPresented && innerWidth > IN_HAND ? Math.max(size, Math.min(MOST * size, READABLE)) : size;
}

/** The size to ask for where letters may be `room` pixels high at most. @param {number} size @param {number} room */
export function sizeWithin(size, room) {
  if (letterSize(size) <= room) return size;
  return letterSize(room) > room ? room / MOST : room;
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
  return (sum * letterSize(size)) / 1000;
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
