// A board with another number in a matrix that is multiplied: its products anew, within a frame. Python computes the same after it.

import { formatTypeset } from "../shared/numbers.js";

/** @import { Board } from "../shared/types.js" */

const EXACT = 4; // digits of a term

/** @param {string} text */
export function readNumber(text) {
  return Number(text.replace(/[()]/g, "").replace("−", "-"));
}

/** A term as Python writes it: without zeros at its end, a negative one in brackets. @param {number} value */
function writeTerm(value) {
  const text = formatTypeset(value, EXACT).replace(/(\.\d+?)0+$/, "$1");
  return value < 0 ? `(${text})` : text;
}

/** What products of terms add up to. @param {string[]} tokens */
function addUp(tokens) {
  const [products] = tokens.reduce(([sums, factor], token) => {
    if (token[0] === "o") return /** @type {[number[], boolean]} */ ([sums, token === "o×"]);
    const value = readNumber(token.slice(1));
    return /** @type {[number[], boolean]} */ ([
      factor ? [...sums.slice(0, -1), sums[sums.length - 1] * value] : [...sums, value],
      false,
    ]);
  }, /** @type {[number[], boolean]} */ ([[], false]));
  return products.reduce((sum, product) => sum + product, 0);
}

/**
 * @param {Board} board whose second matrix is multiplied from the right @param {[sheet: number, r: number, c: number]} at @param {number} value
 * @returns {Board}
 */
export function editBoard(board, [sheet, r, c], value) {
  const last = board.sheets.length - 1;
  const decimals = Math.min(2, String(value).split(".")[1]?.length ?? 0);
  const cells = board.cells.map((row) =>
    row.map((cell, column) => {
      if (column !== c) return cell;
      let seen = -1;
      const t = cell.t.map((token) =>
        token[0] === String(sheet) && ++seen === r ? `${sheet}${writeTerm(value)}` : token,
      );
      return { ...cell, t, v: writeTerm(addUp(t)).replace(/[()]/g, "") };
    }),
  );
  const sheets = board.sheets.map((one, n) => {
    if (n !== sheet && n !== last) return one;
    const digits = Math.max(...one.text.flat().map((text) => text.split(".")[1]?.length ?? 0));
    const text = one.text.map((row, i) =>
      row.map((old, j) => {
        if (j !== c || (n === sheet && i !== r)) return old;
        return formatTypeset(n === sheet ? value : addUp(cells[i][j].t), Math.max(digits, n === sheet ? decimals : 0));
      }),
    );
    const numbers = text.map((row) => row.map(readNumber));
    const largest = Math.max(...numbers.flat().map(Math.abs)) || 1;
    return { ...one, text, fill: numbers.map((row) => row.map((number) => number / largest)) };
  });
  return { ...board, sheets, cells };
}
