// Signs that the pictures' font lacks, as lines: arrows, a blank, the end of a line, Σ and others. In units of
// the size, from the baseline up.

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
  "↵": { advance: 0.8, lines: [[0.7, 0.62, 0.7, MID, 0.1, MID], [0.1 + HEAD, MID + HEAD, 0.1, MID, 0.1 + HEAD, MID - HEAD]] },
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
