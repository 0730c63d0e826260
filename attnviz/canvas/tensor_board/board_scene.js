// A board as a drawing: matrices with their numbers, what the lit one was computed from, and its sum. No page.

import { isTight, splitName } from "./sum_line.js";
import { nameInk, roleOf, tint } from "./tensor_tint.js";
import { rgb } from "../shared/colour.js";
import { visibleToken } from "../shared/dom.js";
import { clamp } from "../shared/numbers.js";
import { drawWith } from "../shared/surface.js";
import { cutToFit, roundedRect } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";

/** @import { SumTerm } from "./sum_line.js" */
/** @import { BoardCell, DrawingContext, Sheet, TensorColours, Theme } from "../shared/types.js" */

/**
 * A matrix with the places of its numbers, from its own upper left corner.
 * @typedef {object} PlacedSheet
 * @property {Sheet} sheet
 * @property {CellSizes} sizes
 * @property {string[]} rows
 * @property {string[]} cols
 * @property {number[]} lefts of columns
 * @property {number} cell pixels across a number
 * @property {number} width
 * @property {number} height
 */

/**
 * What the matrices of a board have in common.
 * @typedef {{ theme: Theme, colours: TensorColours, lit: [number, number], areas: BoardCell["a"] }} BoardLook
 */

/** @typedef {ReturnType<typeof sizesOf>} CellSizes */

const SERIF = '"Cambria Math", Georgia, serif';
const GAP = 2;
/** Before a column where another head begins. */
const HEAD_GAP = 10;
const LONGEST_LABEL = 110;
export const NAME = 18;
const SHAPE = 12;
/** From the upper edge to the columns' labels, and from there to the numbers. */
const CAPTION = 28;
export const SUM = { size: 15, line: 25, gap: 5, beside: 12, above: 9 };
/** Letters below and above the line. */
const SMALL = 0.72 * SUM.size;

/** Columns of all matrices together that stand on one line. */
const ON_ONE_LINE = 18;

/** How many numbers and matrices share a line. @param {Sheet[]} sheets */
export function onOneLine(sheets) {
  const wide = sheets.map(({ cols }) => cols.length);
  const all = wide.reduce((sum, count) => sum + count);
  const fits = all <= ON_ONE_LINE;
  return { fits, columns: fits ? all : Math.max(...wide), beside: fits ? sheets.length : 1 };
}

/** Whether the result's rows have labels: on a line with the first matrix it leaves them to that one, if they are the same. */
/** @param {Sheet[]} sheets */
export function namesRows(sheets) {
  const [first, result] = [sheets[0], sheets[sheets.length - 1]];
  return first === result || !onOneLine(sheets).fits || first.rows.some((row, r) => row !== result.rows[r]);
}

/** Sizes of letters and rows by the width of a number, as the style sheet has them. @param {number} cell */
export function sizesOf(cell) {
  const label = clamp(0.27 * cell, 10.5, 16);
  return {
    cell,
    label,
    number: clamp(0.27 * cell + 2, 11.5, 22),
    high: clamp(0.64 * cell + 1, 28, 52),
    beside: 0.1 * cell,
  };
}

/** @param {string} text @param {number} room @param {number} size */
function cutLabel(text, room, size) {
  return cutToFit(text && visibleToken(text), room, (part) => textWidth(part, size)).text;
}

/** @param {Sheet} sheet @param {CellSizes} sizes @param {boolean} named whether rows have labels @returns {PlacedSheet} */
export function placeSheet(sheet, sizes, named) {
  const rows = named ? sheet.rows.map((name) => cutLabel(name, LONGEST_LABEL, sizes.label)) : [];
  const cols = sheet.cols.map((name) => cutLabel(name, LONGEST_LABEL, sizes.label));
  const widest = (/** @type {string[]} */ texts, /** @type {number} */ size) =>
    Math.max(0, ...texts.map((text) => textWidth(text, size, 600)));
  const least = sheet.role === "mask" ? 0.6 * sizes.cell : sizes.cell;
  const numbers = widest(sheet.text.flat(), sizes.number) + 2 * sizes.beside;
  const cell = Math.max(least, numbers, widest(cols, sizes.label) + 4);
  const left = rows.length ? widest(rows, sizes.label) + 6 : 0;
  const lefts = cols.map(
    (_name, c) => left + c * (cell + GAP) + HEAD_GAP * sheet.lines.filter((line) => line <= c).length,
  );
  const { text, sub } = splitName(sheet.name);
  const name = textWidth(text, NAME, 600) + textWidth(sub, 0.72 * NAME, 600);
  const title = name + 12 + textWidth(sheet.shape, SHAPE);
  const width = Math.max(lefts[lefts.length - 1] + cell, title);
  const height = CAPTION + sizes.label + 8 + sheet.text.length * (sizes.high + GAP);
  return { sheet, sizes, rows, cols, lefts, cell, width, height };
}

/**
 * @param {DrawingContext} context @param {PlacedSheet} placed @param {number} number of the sheet
 * @param {boolean} isResult whether the lit number is in it @param {BoardLook} look
 */
export function drawSheet(context, placed, number, isResult, look) {
  const { sheet, sizes, rows, cols, lefts, cell } = placed;
  const { theme, colours } = look;
  const { text, sub } = splitName(sheet.name);
  drawWith(context, { fillStyle: nameInk(sheet.role, colours, theme.text), textAlign: "left", textBaseline: "middle" });
  let x = 2;
  for (const [part, size, down] of /** @type {[string, number, number][]} */ ([
    [text, NAME, 0],
    [sub, 0.72 * NAME, 4],
  ])) {
    context.font = `italic 600 ${size}px ${SERIF}`;
    context.fillText(part, x, 11 + down);
    x += textWidth(part, size, 600);
  }
  drawWith(context, { font: `${SHAPE}px ${theme.font}`, fillStyle: theme.text, globalAlpha: 0.75 });
  context.fillText(sheet.shape, x + 10, 13);
  const top = placed.height - sheet.text.length * (sizes.high + GAP);
  drawWith(context, { font: `${sizes.label}px ${theme.font}`, globalAlpha: 0.8, textAlign: "center" });
  cols.forEach((name, c) => context.fillText(name, lefts[c] + cell / 2, CAPTION + sizes.label / 2));
  context.textAlign = "right";
  rows.forEach((name, r) => context.fillText(name, lefts[0] - 5, top + r * (sizes.high + GAP) + sizes.high / 2));
  context.globalAlpha = 1;
  const isOrigin = (/** @type {number} */ r, /** @type {number} */ c) =>
    look.areas.some(([of, r0, r1, c0, c1]) => of === number && r0 <= r && r < r1 && c0 <= c && c < c1);
  sheet.text.forEach((_line, r) =>
    cols.forEach((_name, c) => {
      const isLit = isResult && look.lit[0] === r && look.lit[1] === c;
      drawNumber(context, placed, [r, c], isLit ? 3 : isOrigin(r, c) ? 2 : 0, look);
    }),
  );
}

/**
 * @param {DrawingContext} context @param {PlacedSheet} placed @param {[number, number]} at row and column
 * @param {number} framed pixels of the line around it @param {BoardLook} look
 */
function drawNumber(context, { sheet, sizes, lefts, cell, height }, [r, c], framed, { theme, colours }) {
  const place = { x: lefts[c], y: height - (sheet.text.length - r) * (sizes.high + GAP), w: cell, h: sizes.high };
  const share = sheet.fill[r][c];
  const look = share === null ? null : tint(roleOf(sheet, c), share, colours, rgb(theme.background));
  if (look === null) context.hatch(place, colours.masked, theme.dark);
  else {
    context.fillStyle = look.fill;
    roundedRect(context, place.x, place.y, place.w, place.h, 4);
    context.fill();
  }
  if (framed) frame(context, place, framed, theme.text);
  const type = `${framed === 3 ? "600 " : ""}${sizes.number}px ${theme.font}`;
  drawWith(context, { font: type, fillStyle: look?.ink ?? theme.text, textAlign: "right" });
  context.fillText(sheet.text[r][c], place.x + cell - sizes.beside, place.y + sizes.high / 2);
}

/** A line inside an edge. @param {DrawingContext} context @param {import("../shared/types.js").Rectangle} place @param {number} wide @param {string} colour */
function frame(context, { x, y, w, h }, wide, colour) {
  drawWith(context, { strokeStyle: colour, lineWidth: wide });
  roundedRect(context, x + wide / 2, y + wide / 2, w - wide, h - wide, 4 - wide / 2);
  context.stroke();
}

/** @param {SumTerm} term */
function partsOf({ kind, text, sub = "", after = "", sup = "" }) {
  const weight = /** @type {400 | 600} */ (kind === "sign" ? 400 : 600);
  const parts = [
    { text, size: SUM.size, down: 0 },
    { text: sub, size: SMALL, down: 3 },
    { text: after, size: SUM.size, down: 0 },
    { text: sup, size: SMALL, down: -5 },
  ];
  return parts
    .filter((part) => part.text)
    .map((part) => ({ ...part, weight, width: textWidth(part.text, part.size, weight) }));
}

/** The terms in lines of at most `room` pixels, each with where it begins. @param {SumTerm[]} terms @param {number} room */
export function placeSum(terms, room) {
  /** @type {{ term: SumTerm, x: number, line: number }[]} */
  const placed = [];
  let [x, line, width] = [0, 0, 0];
  for (const term of terms) {
    const wide = partsOf(term).reduce((sum, part) => sum + part.width, 0);
    const tight = isTight(term);
    if (tight.before) x -= SUM.gap;
    if (x > 0 && x + wide > room) [x, line] = [0, line + 1];
    placed.push({ term, x, line });
    width = Math.max(width, x + wide);
    x += wide + (tight.after ? 0 : SUM.gap);
  }
  return { placed, width: width + 2 * SUM.beside, height: (line + 1) * SUM.line + 2 * SUM.above };
}

/**
 * The sum in its box.
 * @param {DrawingContext} context @param {ReturnType<typeof placeSum>} sum @param {number} x @param {number} y
 * @param {BoardLook} look
 */
export function drawSum(context, { placed, width, height }, x, y, { theme, colours }) {
  context.fillStyle = theme.secondary;
  roundedRect(context, x, y, width, height, 8);
  context.fill();
  drawWith(context, { textAlign: "left", textBaseline: "middle" });
  for (const { term, x: from, line } of placed) {
    const role = term.kind === "number" ? term.role : "";
    drawWith(context, { fillStyle: nameInk(role, colours, theme.text), globalAlpha: term.kind === "sign" ? 0.75 : 1 });
    let at = x + SUM.beside + from;
    for (const { text, size, down, weight, width: wide } of partsOf(term)) {
      context.font = `${weight} ${size}px ${theme.font}`;
      context.fillText(text, at, y + SUM.above + (line + 0.5) * SUM.line + down);
      at += wide;
    }
  }
  context.globalAlpha = 1;
}
