// Where the matrices of a board stand and where their numbers are, and how the number that is lit came about, written out as a
// sum. No page.

import { visibleToken } from "../shared/dom.js";
import { clamp } from "../shared/numbers.js";
import { cutToFit } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";
import { columnRole } from "./tensor_tint.js";

/** @import { Board, BoardCell, Rectangle, Sheet } from "../shared/types.js" */

/** @typedef {ReturnType<typeof boardSizes>} CellSizes */
/** @typedef {ReturnType<typeof placeSheet>} PlacedSheet */
/** @typedef {ReturnType<typeof placeBoard>} PlacedBoard */
/**
 * A matrix where it stands, the sign after it, how much of it is seen across, and how far that is scrolled.
 * @typedef {{ placed: PlacedSheet, x: number, y: number, sign: string, seen: number, scrolled: number }} StandingSheet
 */
/**
 * What a board has room in. `most`: the widest number; `isFile`: nothing is scrolled, and a sum is as wide as its text;
 * `longest`: the sum that there is to be room for, so that nothing below moves while numbers are pointed at.
 * @typedef {{ width: number, most: number, isFile: boolean, longest?: SumTerm[] }} BoardRoom
 */

export const GAP = 2;
/** Before a column where another head begins. */
const HEAD_GAP = 10;
export const NAME = { size: 18, sub: 13, family: '"KaTeX_Math", "Cambria Math", Georgia, serif' };
export const SHAPE = 12;
/** From the upper edge to the columns' labels, and from there to the numbers. */
export const CAPTION = 28;
export const SIGN = 22;
export const SUM = { size: 15, line: 25, gap: 5, beside: 12, above: 9 };
/** Letters below and above the line. */
const SMALL = 0.84 * SUM.size;
/** The least room for a sum beside a matrix, and what a file has for one below. */
const [LEAST, LEAST_BELOW] = [260, 420];
/** Where a board is narrower, all numbers are as wide as a finger. */
const [NARROW, FINGER] = [560, 40];
/** Below a matrix that is scrolled. */
const SCROLLBAR = 6;
/** Columns that stand on one line at most, of all its matrices together. */
const ON_ONE_LINE = 20;

/** How many numbers and matrices share the fullest line, and whether it is the only one. @param {Sheet[]} sheets */
export function onOneLine(sheets) {
  const lines = [{ columns: 0, beside: 0 }];
  for (const { cols } of sheets) {
    const { columns, beside } = lines[0];
    if (beside && columns + cols.length > ON_ONE_LINE) lines.unshift({ columns: cols.length, beside: 1 });
    else lines[0] = { columns: columns + cols.length, beside: beside + 1 };
  }
  const fullest = lines.reduce((most, line) => (line.columns > most.columns ? line : most));
  return { fits: lines.length === 1, ...fullest };
}

/** Whether the result's rows have labels: on a line with the first matrix it leaves them to that one, if they are the same. */
/** @param {Sheet[]} sheets @param {number} width */
function namesRows(sheets, width) {
  const [first, result] = [sheets[0], sheets[sheets.length - 1]];
  const isApart = first === result || width < NARROW || !onOneLine(sheets).fits;
  return isApart || first.rows.some((row, r) => row !== result.rows[r]);
}

/** Sizes of letters and rows by the room of a number. @param {number} room @param {number} most */
function boardSizes(room, most) {
  const cell = clamp(room, 29, most);
  return {
    cell,
    label: clamp(0.27 * cell, 10.5, 16),
    number: clamp(0.27 * cell + 2, 11.5, 22),
    high: clamp(0.64 * cell + 1, 28, 52),
    beside: 0.1 * cell,
    widestRow: clamp(1.4 * cell, 46, 110),
    widestColumn: clamp(room, cell, 110),
  };
}

/** @param {string} text @param {number} room @param {number} size */
function cutLabel(text, room, size) {
  return cutToFit(text && visibleToken(text), room, (part) => textWidth(part, size)).text;
}

/** Pixels across a matrix's name, whose letters, above all capitals, are wider than those that are measured. */
/** @param {string} name */
export function nameWidth(name) {
  const { text, sub } = splitName(name);
  const wide = (/** @type {string} */ part, /** @type {number} */ size) =>
    1.1 * textWidth(part, size, 600) + 0.25 * textWidth(part.replace(/[^A-Z]/g, ""), size, 600);
  return { text: wide(text, NAME.size), sub: wide(sub, NAME.sub) };
}

/** A matrix with the places of its numbers, from its own upper left corner: lefts of columns, pixels across a number. */
/** @param {Sheet} sheet @param {CellSizes} sizes @param {boolean} named whether rows have labels */
function placeSheet(sheet, sizes, named) {
  const rows = named ? sheet.rows.map((name) => cutLabel(name, sizes.widestRow, sizes.label)) : [];
  const cols = sheet.cols.map((name) => cutLabel(name, sizes.widestColumn - 4, sizes.label));
  const widest = (/** @type {string[]} */ texts, /** @type {number} */ size) =>
    Math.max(0, ...texts.map((text) => textWidth(text, size)));
  const least = sheet.role === "mask" ? 0.6 * sizes.cell : sizes.cell;
  const numbers = widest(sheet.text.flat(), sizes.number) + sizes.beside + 2;
  const cell = Math.max(least, numbers, widest(cols, sizes.label) + 4);
  const left = rows.length ? widest(rows, sizes.label) + 6 : 0;
  const lefts = cols.map(
    (_name, c) => left + c * (cell + GAP) + HEAD_GAP * sheet.lines.filter((line) => line <= c).length,
  );
  const name = nameWidth(sheet.name);
  const title = name.text + name.sub + 12 + textWidth(sheet.shape, SHAPE);
  const width = Math.max(lefts[lefts.length - 1] + cell, title);
  const height = CAPTION + sizes.label + 8 + sheet.text.length * (sizes.high + GAP);
  return { sheet, sizes, rows, cols, lefts, cell, width, height };
}

/** Where a number of a matrix is. @param {PlacedSheet} placed @param {number} r @param {number} c @returns {Rectangle} */
export function placeOfNumber({ sheet, sizes, lefts, cell, height }, r, c) {
  return { x: lefts[c], y: height - (sheet.text.length - r) * (sizes.high + GAP), w: cell, h: sizes.high };
}

/** @param {SumTerm} term */
export function termTexts({ kind, text, sub = "", after = "", sup = "" }) {
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
function placeSum(terms, room) {
  /** @type {{ term: SumTerm, x: number, line: number }[]} */
  const placed = [];
  let [x, line, width] = [0, 0, 0];
  for (const term of terms) {
    const wide = termTexts(term).reduce((sum, part) => sum + part.width, 0);
    const tight = isTight(term);
    if (tight.before) x -= SUM.gap;
    if (x > 0 && x + wide > room) [x, line] = [0, line + 1];
    placed.push({ term, x, line });
    width = Math.max(width, x + wide);
    x += wide + (tight.after ? 0 : SUM.gap);
  }
  return { placed, width: width + 2 * SUM.beside, height: (line + 1) * SUM.line + 2 * SUM.above };
}

/** The matrices in as many lines as they need, in the middle of each. */
/** @param {PlacedSheet[]} all @param {string[]} signs @param {BoardRoom} room */
function placeInLines(all, signs, room) {
  const between = clamp(0.012 * room.width, 6, 14);
  /** @type {StandingSheet[][]} */
  const lines = [[]];
  let [x, width] = [0, 0];
  all.forEach((placed, i) => {
    const sign = signs[i] ?? "";
    const after = sign ? between + textWidth(sign, SIGN) : 0;
    const seen = room.isFile ? placed.width : Math.min(placed.width, room.width - after);
    if (x > 0 && x + between + seen + after > room.width) {
      lines.push([]);
      x = 0;
    }
    const begin = x && x + between;
    lines[lines.length - 1].push({ placed, x: begin, y: 0, sign, seen, scrolled: 0 });
    x = begin + seen + after;
    width = Math.max(width, x);
  });
  let y = 0;
  for (const line of lines) {
    const high = Math.max(...line.map(({ placed }) => placed.height));
    for (const one of line) one.y = y + (high - one.placed.height) / 2;
    y += high + between + (line.some(({ placed, seen }) => seen < placed.width) ? SCROLLBAR : 0);
  }
  return { standing: lines.flat(), isOne: lines.length === 1, between, x, width, height: y - between };
}

/** Where the sum stands: below a line of matrices, at one place in all steps; beside the last of several lines with room for it. */
/** @param {ReturnType<typeof placeInLines>} lines @param {SumTerm[]} terms @param {BoardRoom} room */
function placeSumTerms({ standing, isOne, between, x, width, height }, terms, room) {
  const { placed, y } = standing[standing.length - 1];
  const beside = room.width - x - between;
  const isBeside = !isOne && beside >= LEAST;
  const below = room.isFile ? Math.max(width, LEAST_BELOW) : room.width;
  const across = isBeside ? beside : below;
  const sum = placeSum(terms, across - 2 * SUM.beside);
  if (!room.isFile) sum.width = across;
  if (room.longest) sum.height = Math.max(sum.height, placeSum(room.longest, across - 2 * SUM.beside).height);
  if (!isBeside) return { ...sum, x: 0, y: height + between };
  return { ...sum, x: x + between, y: Math.max(0, y + (placed.height - sum.height) / 2) };
}

/**
 * A board with the number `at` (row, column) of its result lit, whose sum is written where `summed`.
 * @param {Pick<Board, "sheets" | "signs">} board @param {BoardCell} cell @param {[number, number]} at
 * @param {BoardRoom} room
 */
export function placeBoard({ sheets, signs }, cell, at, room, summed = true) {
  const { columns, beside } = onOneLine(sheets);
  const each = room.width < NARROW ? FINGER : (0.89 * room.width + 23 - 45 * beside) / columns - 2;
  const sizes = boardSizes(each, room.width < NARROW ? FINGER : room.most);
  const last = sheets.length - 1;
  const all = sheets.map((sheet, i) => placeSheet(sheet, sizes, i < last || namesRows(sheets, room.width)));
  const lines = placeInLines(all, signs, room);
  const sum = summed ? placeSumTerms(lines, sumTerms(sheets, cell, ...at), room) : null;
  return {
    ...lines,
    sum,
    width: Math.ceil(Math.max(lines.width, sum ? sum.x + sum.width : 0)),
    height: Math.ceil(Math.max(lines.height, sum ? sum.y + sum.height : 0)),
  };
}

/** Of the film of a sum: the part in which all its numbers fly, one after the other, and how long each takes. */
const [FLYING, FLIGHT] = [0.8, 0.45];

/**
 * The numbers of a sum on their way from where they stand to where they are written, a pair at a time; and which parts of
 * the sum are there already. @param {Pick<PlacedBoard, "standing" | "sum">} board @param {BoardCell} cell @param {number} share of the film
 */
export function sumOnItsWay({ standing, sum }, { a: areas, t: tokens }, share) {
  const cellsOf = (/** @type {number} */ sheet) =>
    areas.flatMap(([of, r0, r1, c0, c1]) =>
      Array.from({ length: of === sheet ? (r1 - r0) * (c1 - c0) : 0 }, (_none, n) => {
        return [r0 + Math.floor(n / (c1 - c0)), c0 + (n % (c1 - c0))];
      }),
    );
  const sources = standing.map((_one, sheet) => cellsOf(sheet));
  const pairs = Math.max(1, ...sources.map(({ length }) => length));
  const taken = standing.map(() => 0);
  const there = new Set([0, 1]); // what it is a sum of
  const flights = tokens.flatMap((token, n) => {
    const sheet = Number(token.replace("^", "")[0]);
    const nth = Number.isNaN(sheet) ? Math.max(0, ...taken) - 1 : taken[sheet]++;
    const begins = ((FLYING - FLIGHT) * Math.max(0, nth)) / Math.max(1, pairs - 1);
    const done = clamp((share - begins) / FLIGHT, 0, 1);
    if (done === 1) there.add(n + 2);
    const source = sources[sheet]?.[nth];
    const written = sum?.placed[n + 2];
    if (!source || !sum || !written || done === 0 || done === 1) return [];
    const { placed, x, y, scrolled } = standing[sheet];
    const from = placeOfNumber(placed, source[0], source[1]);
    const goal = { x: sum.x + SUM.beside + written.x, y: sum.y + SUM.above + (written.line + 0.5) * SUM.line };
    const eased = 1 - (1 - done) ** 3;
    const place = {
      ...{ w: from.w, h: from.h },
      x: x + from.x - scrolled + eased * (goal.x - from.w / 3 - (x + from.x - scrolled)),
      y: y + from.y + eased * (goal.y - from.h / 2 - (y + from.y)),
    };
    return [{ sheet, at: /** @type {[number, number]} */ ([source[0], source[1]]), place }];
  });
  if (share >= FLYING) tokens.concat("", "").forEach((_token, n) => there.add(n + 2));
  return { flights, there };
}

/** Where the middle of what is seen of a matrix stands. @param {StandingSheet} sheet */
function middleOf({ placed, x, y, seen }) {
  return [x + seen / 2, y + placed.height / 2];
}

/**
 * Where the parts of a board begin that comes after another one: how far each matrix is from its place, and how large; a new
 * number comes out of those that it is made of (null: none is new).
 * @typedef {{ by: number[], size: number } | null} SheetStart
 * @typedef {{ sheets: SheetStart[], cells: number[][][] | null }} BoardStart
 */

/** Where a matrix is that stands elsewhere, or is as small as its picture among all, seen from where it is to stand. */
/** @param {StandingSheet | undefined} from @param {StandingSheet} to @param {Rectangle | null} home @returns {SheetStart} */
export function sheetStart(from, to, home) {
  const goal = middleOf(to);
  const start = from ? middleOf(from) : home && [home.x + home.w / 2, home.y + home.h / 2];
  if (!start) return null;
  const { lefts, cell } = to.placed;
  const wide = lefts[lefts.length - 1] + cell - lefts[0];
  return {
    by: start.map((at, side) => at - goal[side]),
    size: from ? from.placed.cell / cell : (home?.w ?? wide) / wide,
  };
}

/**
 * A matrix that was there glides, another one comes out of its small picture.
 * @param {Map<number | string, StandingSheet>} before by what they are @param {StandingSheet[]} after
 * @param {(number | string)[]} keys what those are @param {(Rectangle | null)[]} homes
 * @param {Board["cells"]} cells @returns {BoardStart}
 */
export function startOf(before, after, keys, homes, cells) {
  const sheets = after.map((one, i) => sheetStart(before.get(keys[i]), one, homes[i]));
  const result = after[after.length - 1];
  const at = (/** @type {StandingSheet} */ one, /** @type {number} */ r, /** @type {number} */ c) => {
    const { x, y, w, h } = placeOfNumber(one.placed, r, c);
    return [one.x + x + w / 2 - one.scrolled, one.y + y + h / 2];
  };
  const comes = (/** @type {BoardCell} */ { a: areas }, /** @type {number[]} */ to) =>
    [0, 1].map((side) => {
      const corners = areas.flatMap(([i, r0, r1, c0, c1]) => [at(after[i], r0, c0), at(after[i], r1 - 1, c1 - 1)]);
      return corners.reduce((sum, corner) => sum + (corner[side] - to[side]) / corners.length, 0);
    });
  const isNew = !before.has(keys[keys.length - 1]);
  if (!isNew) return { sheets, cells: null };
  sheets[sheets.length - 1] = null; // its numbers move
  return { sheets, cells: cells.map((row, r) => row.map((cell, c) => comes(cell, at(result, r, c)))) };
}

/**
 * A part of a sum: a text, and what follows it below or above the line.
 * @typedef {object} SumTerm
 * @property {"sign" | "number" | "total"} kind
 * @property {string} [role] of a number of a sheet
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
  if (kind === "o") return { kind: "sign", text };
  const role = kind === "n" ? undefined : columnRole(sheets[Number(kind)], c);
  return { kind: "number", role, ...(power ? { text: "e", sup: text } : { text }) };
}

/** The sum behind a number of the last sheet. @param {Sheet[]} sheets @param {BoardCell} cell @param {number} r @param {number} c */
export function sumTerms(sheets, { t: tokens, e: sign, v: value }, r, c) {
  const result = sheets[sheets.length - 1];
  const after = `[${result.rows[r]}, ${result.cols[c]}]`;
  /** @type {SumTerm[]} */
  const terms = [{ kind: "number", role: columnRole(result, c), ...splitName(result.name), after }];
  terms.push({ kind: "sign", text: "=" }, ...tokens.map((token) => readToken(token, sheets, c)));
  if (value !== null) terms.push({ kind: "sign", text: sign }, { kind: "total", text: value });
  return terms;
}

/** The longest sum of a board. @param {Board} board */
export function longestSum({ sheets, cells }) {
  const all = cells.flatMap((row, r) => row.map((cell, c) => ({ cell, r, c, long: cell.t.join(" ").length })));
  const { cell, r, c } = all.reduce((most, one) => (one.long > most.long ? one : most));
  return sumTerms(sheets, cell, r, c);
}

/** Whether no room is left after a sign, or before it: at brackets. @param {SumTerm} term */
export function isTight({ kind, text }) {
  return { after: kind === "sign" && text.endsWith("("), before: kind === "sign" && text === ")" };
}

/** The sum behind a number in one line of text. */
/** @param {Sheet[]} sheets @param {BoardCell} cell @param {number} r @param {number} c */
export function sumText(sheets, cell, r, c) {
  const terms = sumTerms(sheets, cell, r, c);
  return terms.map(({ text, sub = "", after = "", sup }) => `${text}${sub}${after}${sup ? `^${sup}` : ""}`).join(" ");
}
