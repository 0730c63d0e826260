// How a number of a board came about, written out as a sum.

import { el } from "../shared/dom.js";

/** @import { Board, Sheet } from "../shared/types.js" */

/**
 * "W_Q" as W with a small Q below.
 * @template {HTMLElement} T
 * @param {T} element
 * @param {string} name
 */
export function withSubscript(element, name) {
  const [base, below] = name.split("_");
  element.textContent = base;
  if (below) element.append(el("sub", "", below));
  return element;
}

/**
 * A token of the sum: its class and text, and whether it is an exponent of e. A token is one letter and a text: "o" is
 * a sign, "n" a number of no sheet, a digit names the sheet that the number is from; "^" before all that: a power of e.
 * @param {string} token @param {Sheet[]} sheets @param {number} c
 */
export function readToken(token, sheets, c) {
  const power = token.startsWith("^");
  const [kind, text] = power ? [token[1], token.slice(2)] : [token[0], token.slice(1)];
  const bracket = text.endsWith("(") ? " tb-open" : text === ")" ? " tb-close" : "";
  if (kind === "o") return { name: `tb-op${bracket}`, text, power: false };
  if (kind === "n") return { name: "tb-term", text, power };
  return { name: `tb-term tb-${roleOf(sheets[Number(kind)], c)}`, text, power };
}

/** @param {Sheet} sheet @param {number} c */
function roleOf(sheet, c) {
  return sheet.roles.length ? sheet.roles[c] : sheet.role;
}

/** @param {Board} board @param {number} r @param {number} c */
export function sumElements(board, r, c) {
  const { t: tokens, e: sign, v: value } = board.cells[r][c];
  const result = board.sheets[board.sheets.length - 1];
  const first = withSubscript(el("span", `tb-term tb-${roleOf(result, c)}`), result.name);
  first.append(`[${result.rows[r]}, ${result.cols[c]}]`);
  const parts = [first, el("span", "tb-op", "=")];
  for (const token of tokens) {
    const { name, text, power } = readToken(token, board.sheets, c);
    const part = el("span", name, power ? "e" : text);
    if (power) part.append(el("sup", "", text));
    parts.push(part);
  }
  if (value !== null) parts.push(el("span", "tb-op", sign), el("span", "tb-total", value));
  return parts;
}
