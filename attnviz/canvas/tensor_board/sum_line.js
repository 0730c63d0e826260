// How a number of a board came about, written out as a sum.

import { roleOf } from "./tensor_tint.js";

/** @import { BoardCell, Sheet } from "../shared/types.js" */

/**
 * A part of a sum: a text, and what follows it below or above the line.
 * @typedef {object} SumTerm
 * @property {"sign" | "number" | "total"} kind
 * @property {string} role of a number
 * @property {string} text
 * @property {string} [sub]
 * @property {string} [after] what follows on the line again
 * @property {string} [sup]
 */

/** "W_Q" as W with a small Q below. @param {string} name */
export function splitName(name) {
  const [text, sub = ""] = name.split("_");
  return { text, sub };
}

/**
 * A token of the sum. It is one letter and a text: "o" is a sign, "n" a number of no sheet, a digit names the sheet that
 * the number is from; "^" before all that: a power of e.
 * @param {string} token @param {Sheet[]} sheets @param {number} c @returns {SumTerm}
 */
export function readToken(token, sheets, c) {
  const power = token.startsWith("^");
  const [kind, text] = power ? [token[1], token.slice(2)] : [token[0], token.slice(1)];
  if (kind === "o") return { kind: "sign", role: "", text };
  const role = kind === "n" ? "" : roleOf(sheets[Number(kind)], c);
  return { kind: "number", role, ...(power ? { text: "e", sup: text } : { text }) };
}

/** The sum behind a number of the last sheet. @param {Sheet[]} sheets @param {BoardCell} cell @param {number} r @param {number} c */
export function sumTerms(sheets, { t: tokens, e: sign, v: value }, r, c) {
  const result = sheets[sheets.length - 1];
  const after = `[${result.rows[r]}, ${result.cols[c]}]`;
  /** @type {SumTerm[]} */
  const terms = [{ kind: "number", role: roleOf(result, c), ...splitName(result.name), after }];
  terms.push({ kind: "sign", role: "", text: "=" }, ...tokens.map((token) => readToken(token, sheets, c)));
  if (value !== null) {
    terms.push({ kind: "sign", role: "", text: sign }, { kind: "total", role: "", text: value });
  }
  return terms;
}

/** Whether no room is left after a sign, or before it: at brackets. @param {SumTerm} term */
export function isTight({ kind, text }) {
  return { after: kind === "sign" && text.endsWith("("), before: kind === "sign" && text === ")" };
}

/** The sum behind a number in one line of text. */
/** @param {Sheet[]} sheets @param {BoardCell} cell @param {number} r @param {number} c */
export function saySum(sheets, cell, r, c) {
  const terms = sumTerms(sheets, cell, r, c);
  return terms.map(({ text, sub = "", after = "", sup }) => `${text}${sub}${after}${sup ? `^${sup}` : ""}`).join(" ");
}
