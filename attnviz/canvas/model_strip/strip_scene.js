// The way of a token through its model as a drawing: boxes of parts, squares for layers and heads, bars of shares. No page.

import { drawWith } from "../shared/surface.js";
import { roundedRect } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";

/** @import { DrawingContext, ModelPart, Rectangle, Theme } from "../shared/types.js" */

/**
 * Squares in a box: one for each layer or head, one of them lit; those of heads are numbered.
 * @typedef {{ count: number, lit: number, numbered: boolean }} Squares
 */
/** @typedef {{ part: ModelPart, squares: Squares | null }} PartBox */
/** @typedef {PartBox & Rectangle} PlacedBox */

const TYPE = 13;
const LINE = 18;
const PAD = { x: 11, above: 8, below: 10 };
/** The narrowest box, and the narrowest with squares in it. */
const [LEAST, LEAST_WITH_SQUARES] = [118, 282];
export const GAP = 26;
/** Squares of layers narrow until they fit, those of heads go on in the next line. */
const LAYER = { pitch: 28, high: 30 };
const HEAD = { pitch: 26, high: 24 };
const BAR = { above: 3, high: 6 };

/** How much of a bar is filled: what is there at all is seen. @param {number} share */
export function filledShare(share) {
  return Math.max(share, share > 0 ? 0.006 : 0);
}

/** Pixels that a box needs across. @param {PartBox} box */
export function widthOf({ part, squares }) {
  const texts = [...part.lines, part.said].map((text) => textWidth(text, TYPE));
  const layers = squares && !squares.numbered ? 7 * squares.count + 2 * PAD.x : 0;
  const inside = Math.max(textWidth(part.title, TYPE, 600), ...texts) + 2 * PAD.x;
  return Math.ceil(Math.max(squares ? LEAST_WITH_SQUARES : LEAST, inside, layers));
}

/** @param {Squares} squares @param {number} room pixels across */
function placeSquares({ count, numbered }, room) {
  const { pitch, high } = numbered ? HEAD : LAYER;
  const step = numbered ? pitch : Math.min(pitch, (room + 2) / count);
  const across = numbered ? Math.max(1, Math.floor((room + 2) / step)) : count;
  return { step, across, high, height: Math.ceil(count / across) * (high + 2) - 2 };
}

/** Pixels that a box needs down, when it is so wide. @param {PartBox} box @param {number} width @param {boolean} bar */
export function heightOf({ part, squares }, width, bar) {
  const rows = squares ? placeSquares(squares, width - 2 * PAD.x).height + 8 : 0;
  const share = part.share === null ? 0 : 2 + LINE + (bar ? BAR.above + BAR.high : 0);
  return PAD.above + LINE * (1 + part.lines.length) + rows + share + PAD.below;
}

/** @param {DrawingContext} context @param {Rectangle} place @param {number} radius */
function fillRounded(context, { x, y, w, h }, radius) {
  roundedRect(context, x, y, w, h, radius);
  context.fill();
}

/** Strokes inside an edge. @param {DrawingContext} context @param {Rectangle} place @param {number} radius @param {string} colour */
export function frame(context, { x, y, w, h }, radius, colour, wide = 1) {
  drawWith(context, { strokeStyle: colour, lineWidth: wide });
  roundedRect(context, x + wide / 2, y + wide / 2, w - wide, h - wide, radius);
  context.stroke();
}

/** @param {DrawingContext} context @param {PlacedBox} box @param {Theme} theme @param {boolean} bar whether shares have one */
export function drawBox(context, box, theme, bar) {
  const { part, squares, w } = box;
  const heads = squares?.numbered ?? false;
  context.fillStyle = theme.secondary;
  fillRounded(context, box, 8);
  frame(context, box, 8, heads ? theme.primary : theme.border, heads ? 2 : 1);
  const [x, room] = [box.x + PAD.x, w - 2 * PAD.x];
  let y = box.y + PAD.above + LINE / 2;
  const write = (/** @type {string} */ text, weight = 400) => {
    drawWith(context, { font: `${weight} ${TYPE}px ${theme.font}`, fillStyle: theme.text });
    drawWith(context, { textAlign: "left", textBaseline: "middle" });
    context.fillText(text, x, y);
    y += LINE;
  };
  write(part.title, 600);
  if (squares) y += drawSquares(context, squares, x, y - LINE / 2 + 4, room, theme) + 8;
  for (const line of part.lines) write(line);
  if (part.share === null) return;
  y += 2;
  context.globalAlpha = 0.85;
  write(part.said);
  context.globalAlpha = 1;
  if (!bar) return;
  const place = { x, y: y - LINE / 2 + BAR.above, w: room, h: BAR.high };
  drawWith(context, { fillStyle: theme.text, globalAlpha: 0.14 });
  fillRounded(context, place, 3);
  drawWith(context, { fillStyle: theme.primary, globalAlpha: 1 });
  if (part.share > 0) fillRounded(context, { ...place, w: room * filledShare(part.share) }, 3);
}

/** Draws the squares, and tells how high they are. */
/** @param {DrawingContext} context @param {Squares} squares @param {number} x @param {number} y @param {number} room @param {Theme} theme */
function drawSquares(context, squares, x, y, room, theme) {
  const { step, across, high, height } = placeSquares(squares, room);
  drawWith(context, { font: `11px ${theme.font}`, textAlign: "center", textBaseline: "middle" });
  for (let i = 0; i < squares.count; i++) {
    const lit = i === squares.lit;
    const place = { x: x + (i % across) * step, y: y + Math.floor(i / across) * (high + 2), w: step - 2, h: high };
    context.fillStyle = lit ? theme.primary : theme.background;
    fillRounded(context, place, 3);
    frame(context, place, 3, lit ? theme.primary : theme.border);
    if (!squares.numbered) continue;
    context.fillStyle = lit ? "#ffffff" : theme.text;
    context.fillText(String(i), place.x + place.w / 2, place.y + high / 2);
  }
  return height;
}
