// One score taken apart, as a drawing knows it: the sentence with the row's weights as arcs, the table of query parts by key
// parts, its margins as bars, and their sum. No page.

import { colourStops, colourAt, css, inkOn } from "../shared/colour.js";
import { fill } from "../shared/dom.js";
import { clamp, formatPercent, formatSigned } from "../shared/numbers.js";
import { drawWith, fillBox, writeText } from "../shared/surface.js";
import { cutToFit } from "../shared/token_labels.js";
import { textWidth, wrapText } from "../scene/text_width.js";

/** @import { Colours, DrawingContext, ForFile, ScoreTableHeader, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @typedef {ReturnType<typeof scoreScene>} ScoreScene */
/** @typedef {{ key: string, alpha: number, weight: number }} WeightMark the weight of a token of the sentence */

const FILE_WIDTH = 960;
const [LARGEST, SMALLEST] = [24, 13];
/** Of a weight below this neither an arc nor a number is drawn. */
const LEAST = 0.005;
/** Pixels of an arc that carries all of the weight, between words, and of what no bar is as long as. */
const [THICKEST, APART] = [11, 14];

/** @param {ScoreTableHeader} header @param {number} width @param {Theme} theme */
export function scoreScene(header, width, theme) {
  const narrow = width < 620;
  const sentence = placeWords(header, width);
  const high = header.query === null ? 26 : narrow ? 96 : 120;
  const [nq, nk] = [header.queries.length, header.keys.length];
  const font = narrow ? 11 : 14;
  const cut = (/** @type {string} */ name) => cutToFit(name, width * 0.26, (text) => textWidth(text, font)).text;
  const names = { rows: header.queries.map(cut), columns: header.keys.map(cut) };
  const left = Math.max(...names.rows.map((name) => textWidth(name, font))) + 14;
  const bars = narrow ? 64 : 170;
  const cell = { w: Math.floor(clamp((width - left - bars) / nk, 22, 96)), h: narrow ? 30 : 36 };
  const most = Math.max(...names.columns.map((name) => textWidth(name, font)));
  const flat = most + 8 <= cell.w;
  const top = high + 54 + 26 + (flat ? 22 : Math.ceil(most * 0.75) + 14);
  const table = { x: left, y: top, w: cell.w * nk, h: cell.h * nq };
  const below = narrow ? 62 : 84;
  // one scale for all steps of a training: what grows is seen to grow
  const sums = (header.steps ?? [header]).map(({ values }) => marginsOf(values));
  const largest = {
    cell: Math.max(1e-9, ...(header.steps ?? [header]).flatMap(({ values }) => values.flat().map(Math.abs))),
    margin: Math.max(1e-9, ...sums.flatMap(({ rows, columns }) => [...rows, ...columns].map(Math.abs))),
  };
  const height = table.y + table.h + below + (narrow ? 64 : 6);
  return {
    ...{ header, names, largest, theme, width, height, narrow, sentence, high, table, cell, font, flat, bars, below },
  };
}

/** Sums of rows and of columns. @param {number[][]} values */
function marginsOf(values) {
  const rows = values.map((row) => row.reduce((sum, value) => sum + value, 0));
  return { rows, columns: values[0].map((_value, k) => values.reduce((sum, row) => sum + row[k], 0)) };
}

/** Where words stand: all of them, or those with the most weight and their neighbours, as many as there is room for. */
/** @param {ScoreTableHeader} header @param {number} width */
function placeWords({ tokens, query, key, source, row }, width) {
  const told = [query, key, source].filter((i) => i !== null);
  const order = [...tokens.keys()].sort((a, b) => rank(b) - rank(a));
  /** @param {number} i */
  function rank(i) {
    return (told.includes(i) ? 9 : 0) + (told.some((near) => Math.abs(near - i) === 1) ? 1 : 0) + (row[i] ?? 0);
  }
  const wide = (/** @type {number[]} */ shown, /** @type {number} */ size) =>
    shown.reduce((sum, i, n) => {
      const gap = n && i - shown[n - 1] > 1 ? textWidth("…", size) + APART : 0;
      return sum + gap + Math.min(160, textWidth(tokens[i], size, 600)) + APART;
    }, 0);
  const all = [...tokens.keys()];
  let size = LARGEST;
  while (size > SMALLEST && wide(all, size) > width) size -= 1;
  let shown = all;
  if (wide(all, size) > width) {
    size = Math.min(size + 1, 15);
    shown = order.slice(0, 3);
    for (const i of order.slice(3)) {
      const more = [...shown, i].sort((a, b) => a - b);
      if (wide(more, size) < width) shown = more;
    }
    shown.sort((a, b) => a - b);
  }
  let x = Math.max(0, (width - wide(shown, size)) / 2) + APART / 2;
  const words = shown.map((i, n) => {
    const gap = n > 0 && i - shown[n - 1] > 1;
    if (gap) x += textWidth("…", size) + APART;
    const w = Math.min(160, textWidth(tokens[i], size, 600));
    const word = { i, x: x + w / 2, w, gap, text: cutToFit(tokens[i], 160, (text) => textWidth(text, size, 600)).text };
    x += w + APART;
    return word;
  });
  return { words, size };
}

/** The weights on show: after the cut where there is one. @param {ScoreScene} scene @returns {WeightMark[]} */
export function weightMarks({ header, sentence }) {
  const row = header.cut?.row ?? header.row;
  return sentence.words.map(({ i }) => ({ key: String(i), alpha: 1, weight: row[i] ?? 0 }));
}

/** @param {DrawingContext} context @param {ScoreScene} scene @param {WeightMark[]} [marks] on their way to others */
export function drawScore(context, scene, marks = weightMarks(scene)) {
  const weights = new Map(marks.map(({ key, weight }) => [Number(key), weight]));
  drawArcs(context, scene, weights);
  drawSentence(context, scene, weights);
  drawTable(context, scene);
  drawMargins(context, scene);
}

/** The words, and the row's weights below them. @param {DrawingContext} context @param {ScoreScene} scene @param {Map<number, number>} weights */
function drawSentence(context, { header, theme, sentence, high }, weights) {
  const { query, key, source } = header;
  const { size } = sentence;
  const y = high + 26;
  for (const { i, x, text, gap, w } of sentence.words) {
    const colour = i === query ? theme.q : i === key ? theme.k : theme.text;
    const bold = i === query || i === key || i === source ? "600 " : "";
    if (gap) writeText(context, "…", x - w / 2 - APART, y, theme, `${size}px`, 0.7, "right");
    writeText(context, text, x, y, { ...theme, text: colour }, `${bold}${size}px`, 1, "center");
    const weight = weights.get(i) ?? 0;
    if (weight >= LEAST)
      writeText(context, formatPercent(weight, 0), x, y + 20, { ...theme, text: theme.weight }, "12px", 1, "center");
  }
}

/** From the query to each key, as thick as its weight; and to the key from where its largest part was read. */
/** @param {DrawingContext} context @param {ScoreScene} scene @param {Map<number, number>} weights */
function drawArcs(context, { header, theme, sentence, high }, weights) {
  const { query, key, source, words, head, value, part } = header;
  const places = new Map(sentence.words.map(({ i, x }) => [i, x]));
  const [base, width] = [high + 4, rightEnd(sentence)];
  const [from, to] = [query, key].map((i) => (i === null ? undefined : places.get(i)));
  if (from === undefined || to === undefined) return;
  const longest = Math.max(1, ...sentence.words.map(({ x }) => Math.abs(x - from)));
  const rise = (/** @type {number} */ x) => 24 + ((high - 46) * Math.abs(x - from)) / longest;
  for (const { i, x } of sentence.words) {
    const weight = weights.get(i) ?? 0;
    if (weight >= LEAST)
      drawArc(context, from, x, base, rise(x), theme.weight, THICKEST * weight, i === key ? 1 : 0.45);
  }
  const said = fill(words.looks, { head, share: formatPercent(weights.get(key) ?? 0, 0) });
  writeAbove(context, said, (from + to) / 2, base - rise(to) - 8, theme.weight, theme, width);
  const wrote = source === null || source === key ? undefined : places.get(source); // at the key itself no arc could be seen
  if (wrote === undefined) return;
  const cut = header.cut?.part === part;
  drawArc(context, wrote, to, base, 30, theme.k, cut ? 1.5 : 6, cut ? 0.4 : 1);
  const read = fill(words.wrote, { part: header.keyNames[part] ?? part, value: formatSigned(value, 1) });
  writeAbove(context, read, (wrote + to) / 2, base - 36, theme.k, theme, width, Math.min(wrote, to));
}

/** @param {ReturnType<typeof placeWords>} sentence */
function rightEnd({ words }) {
  const last = words[words.length - 1];
  return last.x + last.w / 2;
}

/** Words over an arc, within the sentence; beside the other arc's where they would lie over it. */
/** @param {DrawingContext} context @param {string} text @param {number} x @param {number} y @param {string} colour @param {Theme} theme @param {number} width @param {number} [right] where they end */
function writeAbove(context, text, x, y, colour, theme, width, right) {
  const half = textWidth(text, 13, 600) / 2;
  const middle = right === undefined ? x : Math.max(half, right - half - 6);
  const place = clamp(middle, half, Math.max(half, width - half));
  fillBox(context, { x: place - half - 3, y: Math.max(8, y) - 9, w: 2 * half + 6, h: 17 }, theme.background, 0.85);
  writeText(context, text, place, Math.max(8, y), { ...theme, text: colour }, "600 13px", 1, "center");
}

/** @param {DrawingContext} context @param {number} from @param {number} to @param {number} base @param {number} rise @param {string} colour @param {number} width @param {number} alpha */
function drawArc(context, from, to, base, rise, colour, width, alpha) {
  const [a, b] = from === to ? [from - 9, to + 9] : [from, to];
  drawWith(context, { strokeStyle: colour, lineWidth: Math.max(1, width), globalAlpha: alpha, lineCap: "round" });
  context.beginPath();
  context.moveTo(a, base);
  context.bezierCurveTo(a, base - rise * 1.33, b, base - rise * 1.33, b, base);
  context.stroke();
  context.globalAlpha = 1;
}

/** @param {DrawingContext} context @param {ScoreScene} scene */
function drawTable(context, { header, names, largest, theme, table, cell, font, flat, narrow }) {
  const { values, colours, words, cut } = header;
  const { rows: queries, columns: keys } = names;
  const stops = colourStops({ signed: true, colours }, theme.dark);
  const x = narrow ? 0 : table.x;
  const above = flat ? 34 : labelRoom(keys, font);
  writeText(context, words.of_key, x, table.y - above, { ...theme, text: theme.k }, "13px"); // prettier-ignore
  keys.forEach((name, k) => {
    const middle = table.x + (k + 0.5) * cell.w;
    const gone = cut !== null && header.keyParts[k] === cut.part;
    const look = { ...theme, text: gone ? theme.k : theme.text };
    if (flat) writeText(context, name, middle, table.y - 12, look, `${gone ? "600 " : ""}${font}px`, 1, "center");
    else drawLeaning(context, name, middle, table.y - 6, look, font);
  });
  queries.forEach((name, q) => {
    const y = table.y + (q + 0.5) * cell.h;
    writeText(context, name, table.x - 8, y, theme, `${font}px`, 1, "right");
    keys.forEach((_name, k) => {
      const value = values[q][k];
      const colour = colourAt(stops, 0.5 + value / largest.cell / 2);
      const gone = cut !== null && header.keyParts[k] === cut.part;
      const box = { x: table.x + k * cell.w + 1, y: table.y + q * cell.h + 1, w: cell.w - 2, h: cell.h - 2 };
      fillBox(context, box, css(colour), gone ? 0.25 : 1);
      const ink = { ...theme, text: gone ? theme.text : inkOn(colour) };
      writeText(
        context,
        formatSigned(value, 1),
        box.x + box.w / 2,
        y,
        ink,
        `${narrow ? 11 : 14}px`,
        gone ? 0.6 : 1,
        "center",
      );
    });
  });
}

/** @param {string[]} names @param {number} font */
const labelRoom = (names, font) => Math.ceil(Math.max(...names.map((name) => textWidth(name, font))) * 0.75) + 14;

/** @param {DrawingContext} context @param {string} text @param {number} x @param {number} y @param {Theme} theme @param {number} font */
function drawLeaning(context, text, x, y, theme, font) {
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 4);
  writeText(context, text, 0, 0, theme, `${font}px`);
  context.restore();
}

/** Sums of rows beside the table, of columns below it, and the sum of all. @param {DrawingContext} context @param {ScoreScene} scene */
function drawMargins(context, { header, largest, theme, table, cell, font, bars, below, narrow, width, height }) {
  const { values, words, cut } = header;
  const { rows, columns } = marginsOf(values);
  const grey = theme.dark ? "#8b8b9a" : "#b9b9c6";
  const right = table.x + table.w + 8;
  const room = Math.min(bars, width - right) - (narrow ? 36 : 48);
  rows.forEach((sum, q) => {
    const long = Math.max(1, (Math.abs(sum) / largest.margin) * room);
    const y = table.y + (q + 0.5) * cell.h;
    fillBox(context, { x: right, y: y - cell.h / 4, w: long, h: cell.h / 2 }, sum < 0 ? grey : theme.q);
    writeText(context, formatSigned(sum, 1), right + long + 6, y, theme, `${font}px`);
  });
  columns.forEach((sum, k) => {
    const long = Math.max(1, (Math.abs(sum) / largest.margin) * (below - 26));
    const x = table.x + (k + 0.5) * cell.w;
    const gone = cut !== null && header.keyParts[k] === cut.part;
    const box = { x: x - cell.w / 5, y: table.y + table.h + 8, w: (cell.w * 2) / 5, h: long };
    fillBox(context, box, sum < 0 ? grey : theme.k, gone ? 0.25 : 1);
    writeText(context, formatSigned(sum, 1), x, box.y + long + 11, theme, `${font}px`, gone ? 0.6 : 1, "center");
  });
  const at = narrow ? { x: 0, y: height - 44 } : { x: right, y: table.y + table.h + 16 };
  const sum = rows.reduce((all, value) => all + value, 0);
  writeText(context, fill(words.sum, { sum: formatSigned(sum, 3) }), at.x, at.y, theme, "600 16px");
  const lines = header.sums.flatMap((line) => wrapText(line, width - at.x, 12));
  lines.forEach((line, n) => writeText(context, line, at.x, at.y + 20 + n * 17, theme, "12px", 0.85));
}

/** @param {ForFile<ScoreTableHeader> & { colours: Colours }} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function scoreFigure(header, _payload, theme) {
  const scene = scoreScene({ session: "", ack: 0, ...header }, FILE_WIDTH, theme);
  const draw = (/** @type {DrawingContext} */ context) => drawScore(context, scene);
  return { width: scene.width, height: Math.ceil(scene.height), title: header.title, draw };
}
