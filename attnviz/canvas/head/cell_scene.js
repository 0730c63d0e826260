// How one weight came about, as a drawing knows it: a query and a key as strips of bars, their product, its sum, the scale,
// and what softmax makes of the row. No page.

import { attend, writeLogits } from "../shared/attend.js";
import { fill, joinTexts } from "../shared/dom.js";
import { editedMask, scaleFactor } from "../shared/edit.js";
import { formatPercent, formatTypeset, toSignificant } from "../shared/numbers.js";
import { clipTo, drawWith, fillBox, strokePath, writeText } from "../shared/surface.js";
import { cutToFit } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { CellNumbers, Colours, DrawingContext, Edit, RawHead, Theme, Words } from "../shared/types.js" */

/** Keys of the row that are drawn: of more, those with the largest weights and the one that is told of. */
const MOST_KEYS = 8;
/** Pixels of a line of text, of a strip of bars, of a key's row, and between two stages. */
const [LINE, STRIP, ROW, GAP] = [18, 30, 19, 8];
/** Of a key's name at most, and of its percentage. */
const [NAME, SHARE] = [88, 48];
/** How wide a file draws it. */
export const CELL_WIDTH = 340;

/**
 * The numbers of a cell, by positions among the model's tokens; masked keys are null.
 * @param {RawHead} raw @param {Edit} edit @param {[number, number]} cell
 * @param {string} token @param {string[]} names of all keys @returns {CellNumbers}
 */
export function cellNumbers(raw, edit, [row, col], token, names) {
  const [, nk] = raw.shape;
  const rowOf = (/** @type {any} */ all) => all && all.subarray(row * nk, (row + 1) * nk);
  const scores = /** @type {Float32Array} */ (rowOf(raw.scores));
  const one = { ...raw, shape: /** @type {[number, number]} */ ([1, nk]), scores, bias: rowOf(raw.bias) };
  const [mask, factor, scaled] = [rowOf(editedMask(edit, raw)), scaleFactor(edit, raw), new Float32Array(nk)];
  writeLogits(one, mask, factor, scaled, 0, nk);
  const weights = attend(one, mask, factor);
  const vector = (/** @type {Float32Array} */ all, /** @type {number} */ at) =>
    Array.from(all.subarray(at * raw.dHead, (at + 1) * raw.dHead));
  return {
    ...{ token, col, names, factor, score: scores[col] },
    q: raw.vectors ? vector(raw.vectors.q, row) : null,
    k: raw.vectors ? vector(raw.vectors.k, col) : null,
    scaled: Array.from(scaled, (value) => (value === -Infinity ? null : value)),
    weights: Array.from(weights),
    extras: [raw.bias && "bias", raw.softcap !== null && "softcap", raw.sink !== null && "sinks"].filter(
      (name) => typeof name === "string",
    ),
  };
}

/** The whole way in a sentence. @param {CellNumbers} cell @param {Words} words */
export function cellSentence({ token, col, names, score, scaled, weights, factor }, words) {
  const fields = { query: token, key: names[col], score: formatTypeset(score), factor: toSignificant(factor, 4) };
  const value = scaled[col];
  if (value === null) return fill(words.cell_masked, fields);
  return fill(words.cell_sum, { ...fields, scaled: formatTypeset(value), weight: formatPercent(weights[col]) });
}

/** Which keys are drawn, in the order of the sentence. @param {CellNumbers} cell */
function shownKeys({ weights, scaled, col }) {
  const open = weights.map((_weight, i) => i).filter((i) => scaled[i] !== null || i === col);
  const first = open.sort((a, b) => Number(b === col) - Number(a === col) || weights[b] - weights[a] || a - b);
  return first.slice(0, MOST_KEYS).sort((a, b) => a - b);
}

/** How high it is. @param {CellNumbers} cell */
export function cellHeight(cell) {
  const strips = cell.q ? 3 * (LINE + STRIP + GAP) : 0;
  const keys = shownKeys(cell);
  const more = keys.length < cell.weights.length ? ROW : 0;
  return strips + LINE + 18 + GAP + (cell.scaled[cell.col] === null ? 0 : LINE + keys.length * ROW + more);
}

/**
 * What is drawn of it at a moment: lengths of bars.
 * @typedef {{ q: number[], k: number[], product: number[], weights: number[] }} CellBars
 */

/** @param {CellNumbers} cell @returns {CellBars} */
export function cellBars({ q, k, weights }) {
  return { q: q ?? [], k: k ?? [], product: (q ?? []).map((value, i) => value * (k?.[i] ?? 0)), weights };
}

/**
 * @param {DrawingContext} context @param {CellNumbers} cell @param {CellBars} bars on the way there
 * @param {{ theme: Theme, colours: Colours, words: Words, width: number }} look
 */
export function drawCell(context, cell, bars, { theme, words, width }) {
  const names = { query: cell.token, key: cell.names[cell.col] };
  const value = cell.scaled[cell.col];
  let y = 0;
  const strip = (/** @type {string} */ text, /** @type {string} */ colour, /** @type {number[]} */ numbers) => {
    writeText(context, cut(text, width), 0, y + LINE / 2, { ...theme, text: colour }, "12px");
    drawStrip(context, numbers, { x: 0, y: y + LINE, w: width, h: STRIP }, colour, theme);
    y += LINE + STRIP + GAP;
  };
  if (cell.q && cell.k) {
    strip(fill(words.cell_query, names), theme.q, bars.q);
    strip(fill(words.cell_key, names), theme.k, bars.k);
    strip(words.cell_product, theme.text, bars.product);
  }
  writeText(context, words.cell_added, 0, y + LINE / 2, theme, "12px", 0.85);
  y += LINE + 4;
  const extras = cell.extras.filter((name) => name !== "sinks").map((name) => words[`cell_${name}`]);
  const times = `q·k = ${formatTypeset(cell.score)}  × ${toSignificant(cell.factor, 4)}`;
  const result = value === null ? `→ ${words.hidden}` : `= ${formatTypeset(value, 3)}`;
  writeText(context, joinTexts("{first} {next}", [times, ...extras, result]), 0, y + 4, theme, "600 14px");
  y += 14 + GAP;
  if (value === null) return;
  const open = cell.scaled.filter((scaled) => scaled !== null).length;
  const shared = cell.extras.includes("sinks") ? words.cell_sink : words.cell_softmax;
  writeText(context, fill(shared, { count: open }), 0, y + LINE / 2, theme, "12px", 0.85);
  drawRow(context, cell, bars.weights, y + LINE, width, theme, words);
}

/** @param {string} text @param {number} room */
const cut = (text, room) => cutToFit(text, room, (whole) => textWidth(whole, 12)).text;

/** Bars of a vector about their zero line, the largest as high as there is room for. */
/** @param {DrawingContext} context @param {number[]} numbers @param {{ x: number, y: number, w: number, h: number }} box @param {string} colour @param {Theme} theme */
function drawStrip(context, numbers, box, colour, theme) {
  const most = numbers.reduce((top, value) => Math.max(top, Math.abs(value)), 0) || 1;
  const [each, zero] = [box.w / numbers.length, box.y + box.h / 2];
  clipTo(context, box, 0);
  numbers.forEach((value, i) => {
    const high = (value / most) * (box.h / 2);
    const bar = { x: box.x + i * each, y: zero - Math.max(0, high), w: Math.max(0.5, each * 0.8), h: Math.abs(high) };
    fillBox(context, bar, colour, value < 0 ? 0.5 : 0.95);
  });
  context.restore();
  drawWith(context, { strokeStyle: theme.border, lineWidth: 1 });
  strokePath(context, [box.x, zero], [box.x + box.w, zero]);
}

/** The row's weights, which add up to one. */
/** @param {DrawingContext} context @param {CellNumbers} cell @param {number[]} weights @param {number} top @param {number} width @param {Theme} theme @param {Words} words */
function drawRow(context, cell, weights, top, width, theme, words) {
  const { names, col } = cell;
  const keys = shownKeys(cell);
  const label = Math.min(NAME, Math.max(...keys.map((key) => textWidth(names[key], 12, 600))));
  const bar = width - label - SHARE - 16;
  const line = (/** @type {string} */ name, /** @type {number} */ weight, /** @type {number} */ y, told = false) => {
    const type = told ? "600 12px" : "12px";
    const text = cutToFit(name, label, (whole) => textWidth(whole, 12, told ? 600 : 400)).text;
    writeText(context, text, label, y, told ? { ...theme, text: theme.k } : theme, type, told ? 1 : 0.85, "right");
    const box = { x: label + 8, y: y - 6, w: bar, h: 12 };
    fillBox(context, box, theme.text, 0.06);
    fillBox(context, { ...box, w: bar * Math.min(1, weight) }, theme.weight, told ? 1 : 0.45);
    writeText(context, formatPercent(weight), label + bar + 14, y, theme, type, told ? 1 : 0.85);
  };
  keys.forEach((key, i) => line(names[key], weights[key], top + (i + 0.5) * ROW, key === col));
  const rest = weights.reduce((sum, weight, i) => (keys.includes(i) ? sum : sum + weight), 0);
  if (rest > 5e-4) line(words.others, rest, top + (keys.length + 0.5) * ROW);
}

/** @param {CellNumbers & { title: string, colours: Colours, words: Words }} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function cellFigure(header, _payload, theme) {
  const { colours, words } = header;
  return {
    ...{ width: CELL_WIDTH, height: cellHeight(header), title: header.title },
    draw: (context) => drawCell(context, header, cellBars(header), { theme, colours, words, width: CELL_WIDTH }),
  };
}
