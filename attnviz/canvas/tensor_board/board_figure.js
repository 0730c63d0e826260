// One operation as a figure: its matrices with a number lit, and the sum of that number, as a wide window shows them.

import { drawSheet, drawSum, namesRows, onOneLine, placeSheet, placeSum, sizesOf, SUM } from "./board_scene.js";
import { sumTerms } from "./sum_line.js";
import { clamp } from "../shared/numbers.js";
import { drawWith } from "../shared/surface.js";
import { textWidth } from "../scene/text_width.js";

/** @import { BoardLook, PlacedSheet } from "./board_scene.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { BoardFigureHeader, Theme } from "../shared/types.js" */

/** Pixels of the window, and of the least room for a sum. */
const WIDTH = 1160;
const LEAST = 260;
const BETWEEN = 12;
const SIGN = 22;

/** A matrix where it stands, and the sign after it. @typedef {{ placed: PlacedSheet, x: number, y: number, sign: string }} StandingSheet */

/** The matrices in as many lines as they need, in the middle of each. @param {PlacedSheet[]} all @param {string[]} signs */
function standInLines(all, signs) {
  /** @type {StandingSheet[][]} */
  const lines = [[]];
  let [x, width] = [0, 0];
  all.forEach((placed, i) => {
    const sign = signs[i] ?? "";
    const end = placed.width + (sign ? BETWEEN + textWidth(sign, SIGN) : 0);
    if (x > 0 && x + BETWEEN + end > WIDTH) {
      lines.push([]);
      x = 0;
    }
    lines[lines.length - 1].push({ placed, x: x && x + BETWEEN, y: 0, sign });
    x = (x && x + BETWEEN) + end;
    width = Math.max(width, x);
  });
  let y = 0;
  for (const line of lines) {
    const high = Math.max(...line.map(({ placed }) => placed.height));
    for (const one of line) one.y = y + (high - one.placed.height) / 2;
    y += high + BETWEEN;
  }
  return { standing: lines.flat(), x, width, height: y - BETWEEN };
}

/** Where the sum stands: beside the last matrix, or below where there is no room. */
/** @param {ReturnType<typeof standInLines>} board @param {BoardFigureHeader} header */
function standSum({ standing, x, width, height }, { sheets, cell, at }) {
  const terms = sumTerms(sheets, cell, ...at);
  const { placed, y } = standing[standing.length - 1];
  const room = WIDTH - x - BETWEEN;
  if (room >= LEAST) {
    const sum = placeSum(terms, room - 2 * SUM.beside);
    return { sum, x: x + BETWEEN, y: Math.max(0, y + (placed.height - sum.height) / 2) };
  }
  const wide = Math.max(width, 420);
  return { sum: placeSum(terms, wide - 2 * SUM.beside), x: 0, y: height + BETWEEN };
}

/** @param {BoardFigureHeader} header @param {Uint8Array} _payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function boardFigure(header, _payload, theme, bar) {
  const { sheets, signs, cell, at, colours, title } = header;
  const { columns, beside } = onOneLine(sheets);
  const sizes = sizesOf(clamp((0.89 * WIDTH + 23 - 45 * beside) / columns - 2, 29, 56));
  const last = sheets.length - 1;
  const all = sheets.map((sheet, i) => placeSheet(sheet, sizes, i < last || namesRows(sheets)));
  const board = standInLines(all, signs);
  const { standing } = board;
  const sum = bar ? standSum(board, header) : null;
  /** @type {BoardLook} */
  const look = { theme, colours, lit: at, areas: cell.a };
  const draw = (/** @type {SvgContext} */ context) => {
    standing.forEach(({ placed, x, y, sign }, i) => {
      const font = `${SIGN}px ${theme.font}`;
      drawWith(context, { font, fillStyle: theme.text, globalAlpha: 0.8, textAlign: "left", textBaseline: "middle" });
      context.fillText(sign, x + placed.width + BETWEEN, y + placed.height / 2 + 17);
      context.globalAlpha = 1;
      context.save();
      context.translate(x, y);
      drawSheet(context, placed, i, i === last, look);
      context.restore();
    });
    if (sum) drawSum(context, sum.sum, sum.x, sum.y, look);
  };
  return {
    width: Math.ceil(Math.max(board.width, sum ? sum.x + sum.sum.width : 0)),
    height: Math.ceil(Math.max(board.height, sum ? sum.y + sum.sum.height : 0)),
    title,
    draw,
  };
}
