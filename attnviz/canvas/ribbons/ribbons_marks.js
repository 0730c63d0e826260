// What the ribbons' pictures are made of: marks of which each has a key, so that they glide.

import { fill, visibleToken } from "../shared/dom.js";

/** @import { Head, Touched } from "./ribbons_numbers.js" */
/** @import { Theme, Words } from "../shared/types.js" */
/**
 * @typedef {{ key: string, kind: "ribbon", alpha: number, path: number[], w: number, colour: string, grown: number }} Ribbon
 * @typedef {{ key: string, kind: "text", alpha: number, x: number, y: number, size: number, bold: number, turn: number, colour: string, text: string, share: number }} Text
 * @typedef {{ key: string, kind: "pill" | "frame" | "grid", alpha: number, x: number, y: number, w: number, h: number, size: number, colour: string, text: string }} Box
 * @typedef {Ribbon | Text | Box} Mark
 */

/** A text mark. @param {Partial<Text> & Pick<Text, "key" | "x" | "y" | "size" | "colour">} text @returns {Text} */
export function textMark(text) {
  return { kind: "text", alpha: 1, bold: 0, turn: 0, text: "", share: NaN, ...text };
}

/** A box mark. @param {Partial<Box> & Pick<Box, "key" | "kind" | "x" | "y" | "w" | "h">} box @returns {Box} */
export function boxMark(box) {
  return { alpha: 1, size: 0, colour: "", text: "", ...box };
}

/** The colours of the touched word and of the others. @param {Touched} touched @param {Theme} theme */
export function sideColours({ axis }, theme) {
  return axis === "q" ? { own: theme.q, others: theme.k } : { own: theme.k, others: theme.q };
}

/** What stands in the pill; above a column, the word alone. @param {Head} head @param {Touched & { unfolded: boolean }} view @param {Words} words */
export function pillText({ tokens }, { axis, word, unfolded }, words) {
  const token = visibleToken(tokens[word]).trim();
  return axis === "k" && unfolded ? token : fill(axis === "q" ? words.new_word : words.looked_word, { token });
}
