// A step as a drawing knows it: one row for each token, its key, the weight that the newest token gives it, its value; q and
// output above. No page.

import { colourAt, css, mixColours, toPixel, readableColour, rgb } from "../shared/colour.js";
import { visibleToken } from "../shared/dom.js";
import { formatPercent } from "../shared/numbers.js";
import { ROLES } from "../shared/roles.js";
import { drawWith, fillBox, writeText } from "../shared/surface.js";
import { letterSize, textWidth } from "../scene/text_width.js";
import { cutToFit } from "../shared/token_labels.js";

/** @import { Weight } from "../scene/text_width.js" */
/** @import { DrawingContext, PlayedRun, PlayedStep, Rectangle, Theme } from "../shared/types.js" */
/** @typedef {ReturnType<typeof filmOf>} Film one head over the tokens processed, row by row */

/**
 * @typedef {object} PlayerScene
 * @property {PlayedRun} header
 * @property {Film} film
 * @property {number} at the step on show
 * @property {Theme} theme
 * @property {ReturnType<typeof playerLayout>} layout
 * @property {number | null} pointed the row that is pointed at
 */

/** The numbers of a payload. @param {PlayedRun} header @param {Float32Array} numbers */
export function filmOf({ rows, widths: [d, dv] }, numbers) {
  let start = 0;
  const [q, k, v, output, weights] = [rows * d, rows * d, rows * dv, rows * dv, rows * rows].map((size) =>
    numbers.subarray(start, (start += size)),
  );
  return { q, k, v, output, weights };
}

/** @param {DrawingContext} context @param {PlayerScene} scene */
export function drawStep(context, scene) {
  drawTitles(context, scene);
  drawVectors(context, scene);
  drawRows(context, scene);
  drawFrames(context, scene);
}

/** @param {DrawingContext} context @param {PlayerScene} scene */
function drawTitles(context, { layout, theme, header, at }) {
  const { words, labels } = header;
  const token = visibleToken(labels[newRows(header.steps, at)[1] - 1]);
  drawWith(context, { font: `600 12px ${theme.font}`, textBaseline: "middle", textAlign: "left" });
  /** @param {string} text @param {number} x @param {number} room */
  const write = (text, x, room, colour = theme.text) => {
    context.fillStyle = colour;
    context.fillText(shortenText(text, room, 12, 600), x, 9);
  };
  const { k, weights, v } = layout;
  write(words.k, k.x, k.w, theme.k);
  write(words.weights, weights.x, weights.w);
  write(words.v, v.x, v.w, readableColour(header.colours.v, theme.background));
  drawWith(context, { font: `11px ${theme.font}`, textAlign: "right", fillStyle: theme.q });
  const said = words.q.replace("{token}", token);
  context.fillText(shortenText(said, layout.label, 11), layout.label, 27);
  context.fillStyle = readableColour(header.colours.v, theme.background);
  context.fillText(shortenText(words.output, weights.w, 11), v.x - 6, 27);
}

/** Keys and values; above them the new q and the output, in the same columns. */
/** @param {DrawingContext} context @param {PlayerScene} scene */
function drawVectors(context, scene) {
  const { header, film, layout, at, pointed, theme } = scene;
  const [d, dv] = header.widths;
  const [, end] = newRows(header.steps, at);
  const { k, v, row, top } = layout;
  if (pointed !== null && pointed < end) {
    const lit = { x: 0, y: top + pointed * row, w: v.x + v.w, h: row };
    fillBox(context, lit, theme.primary, 0.14);
  }
  for (const [vectors, above, n, { x, w }, colour] of /** @type {const} */ ([
    [film.k, film.q, d, k, header.colours.k],
    [film.v, film.output, dv, v, header.colours.v],
  ])) {
    const own = above === film.q ? header.colours.q : colour;
    const newest = above.subarray((end - 1) * n, end * n);
    const held = vectors.subarray(0, end * n);
    drawCells(context, newest, n, { x, y: 20, w, h: 14 }, 14, [theme.background, own, largest(above)]);
    drawCells(context, held, n, { x, y: top, w, h: end * row }, visiblePixels(row), [
      theme.background,
      colour,
      largest(vectors),
    ]);
  }
}

/** @param {DrawingContext} context @param {PlayerScene} scene */
function drawRows(context, scene) {
  const { layout, theme, header, film, at, pointed } = scene;
  const [first, end] = newRows(header.steps, at);
  const every = Math.max(1, Math.ceil(11 / layout.row));
  for (let row = 0; row < end; row++) {
    const y = layout.top + row * layout.row;
    drawWeight(context, scene, film.weights[(end - 1) * header.rows + row], y);
    drawMarks(context, scene, row >= first, y);
    if (row % every && row !== pointed && row !== end - 1) continue;
    const weight = row >= first ? 600 : 400;
    const label = shortenText(visibleToken(header.labels[row]), layout.label, 11, weight);
    writeText(context, label, layout.label, y + layout.row / 2, theme, `${weight} 11px`, 1, "right");
  }
}

/** A weight as a bar on the scale that every page has for weights. */
/** @param {DrawingContext} context @param {PlayerScene} scene @param {number} weight @param {number} y */
function drawWeight(context, { layout, theme, header }, weight, y) {
  const { x, w } = layout.weights;
  const room = Math.max(10, w - 40);
  const tall = visiblePixels(layout.row);
  fillBox(context, { x, y, w: room, h: tall }, theme.text, 0.08);
  fillBox(context, { x, y, w: Math.max(0.5, room * weight), h: tall }, css(colourAt(header.colours.weights, weight)));
  if (layout.row < 11) return;
  writeText(context, formatPercent(weight), x + room + 4, y + layout.row / 2, theme, "10px");
}

/** Whether this step processes a row's token, with a cache and without: without one it processes all. */
/** @param {DrawingContext} context @param {PlayerScene} scene @param {boolean} isNew @param {number} y */
function drawMarks(context, { layout, theme }, isNew, y) {
  const radius = Math.min(4, layout.row / 2 - 0.5);
  layout.marks.forEach((x, way) => {
    const now = way === 1 || isNew;
    context.beginPath();
    context.arc(x + layout.mark / 2, y + layout.row / 2, Math.max(1, radius), 0, 2 * Math.PI);
    drawWith(context, { strokeStyle: theme.text, fillStyle: theme.primary, globalAlpha: now ? 1 : 0.25 });
    if (now) context.fill();
    else context.stroke();
    context.globalAlpha = 1;
  });
}

/** Around what is in the cache, what comes with this step, and what later steps bring. */
/** @param {DrawingContext} context @param {PlayerScene} scene */
function drawFrames(context, { layout, theme, header, at }) {
  const [first, end] = newRows(header.steps, at);
  const { top, row, marks, mark } = layout;
  for (const { x, w } of [layout.k, layout.v]) {
    drawWith(context, { strokeStyle: theme.text, globalAlpha: 0.35, lineWidth: 1 });
    context.strokeRect(x - 0.5, top - 0.5, w + 1, end * row + 1);
    context.globalAlpha = 0.3;
    context.setLineDash([2, 3]);
    context.strokeRect(x - 0.5, top - 0.5, w + 1, header.rows * row + 1);
    context.setLineDash([]);
    drawWith(context, { strokeStyle: theme.primary, globalAlpha: 1, lineWidth: 2 });
    context.strokeRect(x - 1, top + first * row - 1, w + 2, (end - first) * row + 2);
    context.lineWidth = 1;
  }
  [header.words.with, header.words.without].forEach((word, way) => {
    context.save();
    context.translate(marks[way] + mark / 2, top - 3);
    context.rotate(-Math.PI / 2.6);
    writeText(context, shortenText(word, top - 2, 10), 0, 0, theme, "10px", 0.8);
    context.restore();
  });
}

/**
 * Vectors as rows of cells, from a tint of grey (negative) to the colour of what they are.
 * @param {DrawingContext} context @param {Float32Array} values @param {number} n numbers of a vector
 * @param {Rectangle} place @param {number} tall pixels of a row that are painted
 * @param {[ground: string, colour: string, largest: number]} look
 */
function drawCells(context, values, n, place, tall, [ground, colour, top]) {
  const [background, positive, negative] = [ground, colour, ROLES.reference].map(rgb);
  const pixels = Uint32Array.from(values, (value) => {
    const reached = 0.06 + 0.9 * Math.sqrt(Math.min(1, Math.abs(value) / top));
    return toPixel(mixColours(background, value < 0 ? negative : positive, reached));
  });
  const count = values.length / n;
  const pitch = place.h / count;
  if (tall >= pitch) {
    context.cells(pixels, n, place);
    return;
  }
  for (let row = 0; row < count; row++) {
    context.cells(pixels.subarray(row * n, (row + 1) * n), n, { ...place, y: place.y + row * pitch, h: tall });
  }
}

/** Of a row's pixels those that are drawn: rows with room for it stand apart. @param {number} row */
function visiblePixels(row) {
  return Math.max(1, row - (row > 6 ? 1 : 0));
}

/** @param {Float32Array} values */
function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);
}

/** A text cut to at most `room` pixels. @param {string} text @param {number} room @param {number} size @param {Weight} [weight] */
export function shortenText(text, room, size, weight = 400) {
  return cutToFit(text, room, (part) => textWidth(part, size, weight)).text;
}

const HEAD = 46; // of which the leaning names of marks take all
const FOOT = 6;
const MARK = 13;
const GAP = 12;
const EDGE = 3;

/** The parts of the scene side by side: labels, two columns of marks, keys, attention, values. In CSS pixels. */
/** @param {number} width @param {number} rows */
export function playerLayout(width, rows) {
  const row = Math.max(3, Math.min(17, Math.floor(430 / Math.max(1, rows))));
  const label = Math.min(110, Math.round(width * 0.2));
  const marks = label + 4;
  const larger = letterSize(10) - 10; // presented
  const mark = MARK + larger;
  const top = HEAD + 2.4 * larger;
  const left = marks + 2 * mark + GAP + larger;
  const room = Math.max(60, width - left - 2 * GAP - EDGE);
  const block = Math.floor(room * 0.36);
  const bars = room - 2 * block;
  return {
    top,
    row,
    height: top + row * rows + FOOT,
    label,
    marks: [marks, marks + mark],
    mark,
    k: { x: left, w: block },
    weights: { x: left + block + GAP, w: bars },
    v: { x: left + block + bars + 2 * GAP, w: block },
  };
}

/** The row at a height of the scene, null above and below the rows. */
/** @param {{ top: number, row: number }} scene @param {number} rows @param {number} y */
export function rowAt(scene, rows, y) {
  const at = Math.floor((y - scene.top) / scene.row);
  return at >= 0 && at < rows ? at : null;
}

/** The first of the rows that a step adds, and the first that it does not. */
/** @param {PlayedStep[]} steps @param {number} at @returns {[number, number]} */
export function newRows(steps, at) {
  return [at ? steps[at - 1].context : 0, steps[at].context];
}

/** The step that processed the token of a row. @param {PlayedStep[]} steps @param {number} row */
export function stepOfRow(steps, row) {
  const found = steps.findIndex((step) => row < step.context);
  return found < 0 ? steps.length - 1 : found;
}

/** FLOPs and seconds up to a step, [with a cache, without], and the largest difference of logits. */
/** @param {PlayedStep[]} steps @param {number} at */
export function countSoFar(steps, at) {
  const done = steps.slice(0, at + 1);
  const sum = (/** @type {(step: PlayedStep) => number} */ of) => done.reduce((total, step) => total + of(step), 0);
  return {
    flops: [sum((step) => step.flops[0]), sum((step) => step.flops[1])],
    seconds: [sum((step) => step.seconds[0]), sum((step) => step.seconds[1])],
    difference: Math.max(...done.map((step) => step.difference)),
  };
}
