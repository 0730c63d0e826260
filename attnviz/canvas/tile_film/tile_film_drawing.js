// The matrix with the tile at work, its strips and what each line keeps; and the same tile large.

import { css, mixed, pixelOf, ramp, readable, rgb } from "../shared/colour.js";
import { fixed, significant } from "../shared/numbers.js";
import { clipTo, drawWith, fillBox, hatch, outline, pixelCanvas, sized, strokeGrid } from "../shared/surface.js";
import { keptBy, linesOf, matrixScene, spansOf, tileScene } from "./tile_film_geometry.js";

/** @import { Rectangle, Theme, TileHeader } from "../shared/types.js" */
/** @import { Span, TileNumbers } from "./tile_film_geometry.js" */

/**
 * What stays the same from tile to tile.
 * @typedef {object} Reel
 * @property {TileHeader} header
 * @property {TileNumbers} numbers
 * @property {Theme} theme
 * @property {Int32Array} order
 * @property {Uint32Array} pixels of all codes
 * @property {string} green V's colour as text
 * @property {[number, number, number]} ends the lowest and the highest `first`, the highest `second`
 * @property {string} grey of bars that change nothing
 * @property {HTMLCanvasElement} states
 * @property {HTMLCanvasElement} cells
 */

/** @param {TileHeader} header @param {TileNumbers} numbers @param {Theme} theme @param {Int32Array} order @returns {Reel} */
export function reelOf(header, numbers, theme, order) {
  const pixels = new Uint32Array(256);
  const colours = ramp(header.colours.scores[Number(theme.dark)]);
  for (let code = 0; code < 255; code++) pixels[code] = colours[Math.round((code / 254) * 255)];
  let [low, high, most] = [Infinity, -Infinity, 0];
  numbers.first.forEach((value, i) => {
    if (!Number.isFinite(value)) return;
    low = Math.min(low, value);
    high = Math.max(high, value);
    most = Math.max(most, numbers.second[i]);
  });
  const ends = /** @type {[number, number, number]} */ ([header.backward ? 0 : Math.min(0, low), high, most]);
  const green = readable(header.green, theme.background);
  const [states, cells] = [document.createElement("canvas"), document.createElement("canvas")];
  const grey = css(mixed(rgb(theme.background), rgb(theme.text), 0.5));
  return { header, numbers, theme, order, pixels, green, grey, ends, states, cells };
}

/** @param {HTMLCanvasElement} canvas @param {Reel} reel @param {number} at @param {number} width */
export function drawMatrix(canvas, reel, at, width) {
  const { header } = reel;
  const scene = matrixScene(width, header.backward);
  const context = sized(canvas, scene.width, scene.height);
  const { matrix } = scene;
  hatch(context, matrix, header.colours.masked, reel.theme.dark);
  const drawn = { context, reel, at, scene };
  tilesGone(drawn);
  work(drawn);
  strips(drawn);
  const names = [header.words.first, header.words.second];
  scene.kept.forEach((place, n) => keptBars(drawn, place, n, names[n]));
}

/** @typedef {{ context: CanvasRenderingContext2D, reel: Reel, at: number, scene: ReturnType<typeof matrixScene> }} Drawn */

/** A stretch of tokens along a side. @param {Rectangle} whole @param {Span} span @param {number} tokens @param {"x" | "y"} along */
function stretch(whole, { from, to }, tokens, along) {
  const size = (along === "x" ? whole.w : whole.h) / tokens;
  const [start, length] = [from * size, (to - from) * size];
  return along === "x" ? { ...whole, x: whole.x + start, w: length } : { ...whole, y: whole.y + start, h: length };
}

/** Which tiles are done and gone, which are to come, and which never come. @param {Drawn} drawn */
function tilesGone({ context, reel, at, scene: { matrix } }) {
  const { header, order, theme } = reel;
  const [tall, wide] = header.blocks;
  const [rows, cols] = [tall, wide].map((block) => Math.ceil(header.tokens / block));
  const [ground, text] = [theme.background, theme.text].map(rgb);
  const [gone, coming] = [0.22, 0.05].map((share) => pixelOf(mixed(ground, text, share)));
  const colours = order.map((step) => (step < 0 ? 0 : step < at ? gone : coming));
  pixelCanvas(cols, rows, (out) => out.set(colours), reel.states);
  const cell = matrix.w / header.tokens;
  clipTo(context, matrix, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(reel.states, matrix.x, matrix.y, cols * wide * cell, rows * tall * cell);
  drawWith(context, { strokeStyle: theme.background, lineWidth: 1 });
  const lines = (/** @type {number} */ count, /** @type {number} */ block, /** @type {number} */ start) =>
    Array.from({ length: block * cell < 8 ? 0 : count - 1 }, (_none, n) => start + (n + 1) * block * cell);
  strokeGrid(context, matrix, lines(rows, tall, matrix.y), lines(cols, wide, matrix.x));
  context.restore();
}

/** The tile at work: the only one that holds scores. @param {Drawn} drawn */
function work({ context, reel, at, scene: { matrix } }) {
  const { header, numbers, theme, pixels } = reel;
  const [queries, keys] = spansOf(header, at);
  const paint = (/** @type {Uint32Array} */ out) => {
    let i = 0;
    for (let row = queries.from; row < queries.to; row++)
      for (let col = keys.from; col < keys.to; col++) out[i++] = pixels[numbers.codes[row * header.tokens + col]];
  };
  pixelCanvas(keys.to - keys.from, queries.to - queries.from, paint, reel.cells);
  const place = stretch(stretch(matrix, queries, header.tokens, "y"), keys, header.tokens, "x");
  fillBox(context, place, theme.background);
  hatch(context, place, reel.header.colours.masked, reel.theme.dark);
  context.imageSmoothingEnabled = false;
  context.drawImage(reel.cells, place.x, place.y, place.w, place.h);
  outline(context, place, theme.primary, 2, theme.background);
}

/** Q, K, V and what is written, faint in slow memory, and full where they are in fast memory. @param {Drawn} drawn */
function strips({ context, reel, at, scene }) {
  const { header, theme, green } = reel;
  const [queries, keys] = spansOf(header, at);
  const out = header.backward ? { colour: theme.q, name: "dQ" } : { colour: green, name: "O" };
  /** @type {[Rectangle, Span, string, string, "x" | "y"][]} */
  const all = [
    [scene.q, queries, theme.q, "Q", "y"],
    [scene.k, keys, theme.k, "K", "x"],
    [scene.v, keys, green, "V", "x"],
    [scene.out, queries, out.colour, out.name, "y"],
  ];
  drawWith(context, { font: `600 12px ${theme.font}`, textBaseline: "middle", textAlign: "center" });
  for (const [place, span, colour, name, along] of all) {
    fillBox(context, place, colour, 0.22);
    if (name === "O") fillBox(context, stretch(place, { from: 0, to: span.from }, header.tokens, along), colour, 0.55);
    fillBox(context, stretch(place, span, header.tokens, along), colour);
    if (along === "y") context.fillText(name, place.x + place.w / 2, place.y - 11);
    else context.fillText(name, place.x - 11, place.y + place.h / 2);
  }
}

/** What each line keeps, as bars: of lines that are done, and of those at work. */
/** @param {Drawn} drawn @param {Rectangle} place @param {number} which @param {string} name */
function keptBars({ context, reel, at, scene }, place, which, name) {
  const { header, theme } = reel;
  const { lines } = linesOf(header, at);
  const { backward, tokens } = header;
  const numbers = which ? reel.numbers.second : reel.numbers.first;
  const blocks = numbers.length / tokens;
  drawWith(context, { fillStyle: theme.text, font: `11px ${theme.font}`, textBaseline: "middle" });
  context.textAlign = backward ? "right" : "center";
  if (backward) context.fillText(name, scene.matrix.x - 4, place.y + place.h / 2);
  else context.fillText(name, place.x + place.w / 2, place.y - 11);
  fillBox(context, place, theme.text, 0.06);
  fillBox(context, stretch(place, lines, tokens, backward ? "x" : "y"), theme.primary, 0.16);
  const [deep, size] = backward ? [place.h, place.w / tokens] : [place.w, place.h / tokens];
  const by = Math.max(1, Math.floor(1 / size)); // of lines that are finer than a pixel not all are drawn
  const thick = by * size - (size > 3 ? 1 : 0);
  for (const [from, to, block, fillStyle, globalAlpha] of /** @type {const} */ ([
    [0, lines.from, blocks - 1, theme.text, 0.45],
    [lines.from, lines.to, header.tiles[at][backward ? 0 : 1], theme.primary, 1],
  ])) {
    context.beginPath();
    for (let line = from; line < to; line += by) {
      const long = deep * shareOf(reel, which, numbers[block * tokens + line]);
      if (backward) context.rect(place.x + line * size, place.y + place.h - long, thick, long);
      else context.rect(place.x, place.y + line * size, long, thick);
    }
    drawWith(context, { fillStyle, globalAlpha });
    context.fill();
  }
  context.globalAlpha = 1;
}

/** How long a bar is. @param {Reel} reel @param {number} which @param {number} value */
function shareOf({ ends: [low, high, most] }, which, value) {
  if (!Number.isFinite(value)) return 0;
  return which ? value / (most || 1) : (value - low) / (high - low || 1);
}

/** A number as the film writes it. @param {number} value */
export function written(value) {
  return (Math.abs(value) < 0.1 ? significant(value, 2) : fixed(value, 2)).replace("-", "−").replace("Infinity", "∞");
}

/**
 * @param {HTMLCanvasElement} canvas @param {Reel} reel @param {number} at @param {number} chosen
 * @param {[number, number]} room how wide and how high it may be
 */
export function drawTile(canvas, reel, at, chosen, [width, high]) {
  const { header, theme } = reel;
  const { backward, words } = header;
  const { lines } = linesOf(header, at);
  const scene = tileScene(width, high, header.blocks[backward ? 1 : 0], backward);
  const context = sized(canvas, width, scene.height);
  const { cells, row } = scene;
  const count = lines.to - lines.from;
  const place = { ...cells, h: row * count };
  hatch(context, place, reel.header.colours.masked, reel.theme.dark);
  context.imageSmoothingEnabled = false;
  context.save();
  context.translate(place.x, place.y);
  if (backward) context.transform(0, 1, 1, 0, 0, 0); // keys are the lines
  context.drawImage(reel.cells, 0, 0, backward ? place.h : place.w, backward ? place.w : place.h);
  context.restore();
  const font = (/** @type {string} */ weight) => `${weight}${row >= 12 ? 11 : 9}px ${theme.font}`;
  drawWith(context, { font: font("600 "), fillStyle: theme.text, textBaseline: "middle", textAlign: "left" });
  const heads = backward ? [words.first, words.second] : [words.first, "×", words.second];
  context.fillText(backward ? "dSᵀ" : "S", place.x, 9);
  scene.columns.forEach((column, n) => context.fillText(heads[n], column.x, 9));
  for (let line = lines.from; line < lines.to; line++) {
    const y = cells.y + (line - lines.from) * row;
    drawLine({ context, reel, scene, font }, keptBy(header, reel.numbers, at, line), y);
    if (line === chosen) outline(context, { x: 1, y, w: width - 2, h: row }, theme.primary, 1.5, theme.background);
  }
}

/**
 * @param {{ context: CanvasRenderingContext2D, reel: Reel, scene: ReturnType<typeof tileScene>, font: (weight: string) => string }} drawn
 * @param {ReturnType<typeof keptBy>} kept @param {number} y
 */
function drawLine({ context, reel, scene, font }, kept, y) {
  const { theme, header } = reel;
  const { was, before, first, second, factor, begins } = kept;
  const rises = !begins && (header.backward || factor < 1);
  const grown = (/** @type {number} */ from, /** @type {number} */ to) =>
    rises ? `${written(from)} → ${written(to)}` : written(to);
  /** @type {[number, string][]} */
  const shown = [
    [shareOf(reel, 0, first), grown(was, first)],
    [shareOf(reel, 1, second), header.backward ? grown(before, second) : written(second)],
  ];
  if (!header.backward) shown.splice(1, 0, begins ? [0, ""] : [factor, written(factor)]);
  const tall = scene.row - (scene.row > 4 ? 1 : 0);
  shown.forEach(([share, text], n) => {
    const { x, w } = scene.columns[n];
    const colour = rises && !header.backward && n < 2 ? theme.primary : reel.grey;
    fillBox(context, { x, y, w: Math.max(0, share * w), h: tall }, colour, 0.3);
    if (scene.row < 9) return;
    drawWith(context, { font: font(rises && n < 2 ? "600 " : ""), fillStyle: theme.text });
    context.fillText(text, x + 3, y + scene.row / 2);
  });
}
