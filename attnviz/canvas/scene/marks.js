// Marks: words, boxes, strips of colour, hatched lines, strokes and discs, each with a key by which it is known from state to state.

import { mixColours, rgb, toPixel } from "../shared/colour.js";
import { drawWith, fillBox, strokePath, writeText } from "../shared/surface.js";
import { marksBetween } from "./glide.js";

/** @import { DrawingContext, Rectangle, Theme } from "../shared/types.js" */
/** @import { Tint } from "../attention_story/story_layout.js" */
/** @typedef {"text" | "box" | "strip" | "hatch" | "line" | "disc"} Kind */
/**
 * @typedef {Rectangle & { key: string, kind: Kind, alpha: number, colour: string, text: string, size: number,
 *   weight: number, turn: number, values: Float32Array, tint: Tint }} Mark a text has `x` at its left and `y` in its middle; a line goes
 *   `w` to the right and `h` down, and is `size` wide; a disc has `x` and `y` in its middle and the radius `size`
 */

/** How much of its colour a number near 0 has, and one far from it. */
const [WEAKEST, STRONGEST] = [0.07, 0.97];
const NONE = new Float32Array();

/** @param {string} key @param {Kind} kind @param {Partial<Mark>} fields @returns {Mark} */
export function mark(key, kind, fields) {
  const place = {
    x: 0,
    y: 0,
    w: 0,
    h: 0,
    alpha: 1,
    colour: "#808080",
    text: "",
    size: 14,
    weight: 400,
    turn: 0,
    values: NONE,
  };
  return { ...place, tint: ["#808080", "#808080"], ...fields, key, kind };
}

/** @param {string} key @param {string} text @param {Partial<Mark>} fields */
export function textMark(key, text, fields) {
  return mark(key, "text", { ...fields, text });
}

/** Marks travel to where those of their keys will be; what is written changes at once. @param {Mark[]} from @param {Mark[]} to */
export function travel(from, to) {
  const texts = new Map([...from, ...to].map(({ key, text }) => [key, text]));
  const bare = (/** @type {Mark[]} */ marks) => marks.map((each) => ({ ...each, text: "" }));
  const way = marksBetween(bare(from), bare(to));
  return (/** @type {number} */ share) => way(share).map((each) => ({ ...each, text: texts.get(each.key) ?? "" }));
}

/** Draws marks; words pass above all else. @param {DrawingContext} context @param {Mark[]} marks @param {Theme} theme */
export function drawMarks(context, marks, theme) {
  const ground = rgb(theme.background);
  const isText = (/** @type {Mark} */ { kind }) => Number(kind === "text");
  for (const each of marks.toSorted((a, b) => isText(a) - isText(b))) {
    const { kind, x, y, w, h, alpha, colour, text, size, weight, turn, values, tint } = each;
    if (alpha <= 0.004) continue;
    if (kind === "text") {
      context.save();
      context.translate(x, y);
      if (turn) context.rotate(turn);
      writeText(context, text, 0, 0, { text: colour, font: theme.font }, `${weight} ${size}px`, alpha);
      context.restore();
    } else if (kind === "box") fillBox(context, { x, y, w, h }, colour, alpha);
    else if (kind === "line") {
      drawWith(context, { strokeStyle: colour, globalAlpha: alpha, lineWidth: size });
      strokePath(context, [x, y], [x + w, y + h]);
    } else if (kind === "disc") {
      drawWith(context, { fillStyle: colour, globalAlpha: alpha });
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.fill();
    } else if (kind === "hatch") context.hatch({ x, y, w: w * alpha, h }, colour, theme.dark);
    else if (w > 0 && h > 0) {
      const [negative, positive] = tint.map(rgb);
      const pixels = Uint32Array.from(values, (value) => {
        const strength = WEAKEST + (STRONGEST - WEAKEST) * Math.min(1, Math.abs(value));
        return toPixel(mixColours(ground, value < 0 ? negative : positive, alpha * strength));
      });
      context.cells(pixels, values.length, { x, y, w, h });
    }
    drawWith(context, { globalAlpha: 1 });
  }
}
