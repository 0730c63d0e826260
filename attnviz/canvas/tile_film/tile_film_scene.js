// The film of tiles as a drawing knows it: the matrix with the tile at work, its strips and what each line keeps; and the same
// tile large. No page.

import { sizeWithin } from "../scene/text_width.js";
import { css, mixColours, toPixel, ramp, readableColour, rgb } from "../shared/colour.js";
import { fill } from "../shared/dom.js";
import { formatFixed, formatSignificant } from "../shared/numbers.js";
import { clipTo, drawWith, fillBox, outline, strokeGrid, writeText } from "../shared/surface.js";
import { runningNumbers, tileLines, orderOf, tileSpans } from "./tile_film_geometry.js";

/** @import { DrawingContext, Rectangle, Theme, TileRun } from "../shared/types.js" */
/** @import { Span, TileNumbers, matrixLayout, tileLayout } from "./tile_film_geometry.js" */

/** @typedef {ReturnType<typeof tileScene>} TileScene */
/** @typedef {ReturnType<typeof matrixLayout>} MatrixLayout */
/** @typedef {ReturnType<typeof tileLayout>} TileLayout */

/**
 * What is drawn of a film: `pixels` of all codes, V's colour as text, the lowest and the highest `first` and the highest
 * `second`, and the grey of bars that change nothing.
 * @param {TileRun} header @param {TileNumbers} numbers @param {Theme} theme
 */
export function tileScene(header, numbers, theme) {
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
  const green = readableColour(header.green, theme.background);
  const grey = css(mixColours(rgb(theme.background), rgb(theme.text), 0.5));
  return { header, numbers, at: header.at, theme, order: orderOf(header), pixels, green, ends, grey };
}

/** The whole matrix and what stands around it. */
/** @param {DrawingContext} context @param {TileScene} scene @param {MatrixLayout} layout */
export function drawMatrix(context, scene, layout) {
  const { words, colours } = scene.header;
  context.hatch(layout.matrix, colours.masked, scene.theme.dark);
  drawStates(context, scene, layout.matrix);
  drawTileAtWork(context, scene, layout.matrix);
  drawStrips(context, scene, layout);
  [words.first, words.second].forEach((name, which) => drawKept(context, scene, layout, which, name));
}

/** A stretch of tokens along a side. @param {Rectangle} whole @param {Span} span @param {number} tokens @param {"x" | "y"} along */
function spanRectangle(whole, { from, to }, tokens, along) {
  const size = (along === "x" ? whole.w : whole.h) / tokens;
  const [start, length] = [from * size, (to - from) * size];
  return along === "x" ? { ...whole, x: whole.x + start, w: length } : { ...whole, y: whole.y + start, h: length };
}

/** Which tiles are done and gone, which are to come, and which never come. */
/** @param {DrawingContext} context @param {TileScene} scene @param {Rectangle} matrix */
function drawStates(context, { header, order, theme, at }, matrix) {
  const [tall, wide] = header.blocks;
  const [rows, cols] = [tall, wide].map((block) => Math.ceil(header.tokens / block));
  const [ground, text] = [theme.background, theme.text].map(rgb);
  const [gone, coming] = [0.22, 0.05].map((share) => toPixel(mixColours(ground, text, share)));
  const pixels = Uint32Array.from(order, (step) => (step < 0 ? 0 : step < at ? gone : coming));
  const cell = matrix.w / header.tokens;
  clipTo(context, matrix, 0);
  context.cells(pixels, cols, { ...matrix, w: cols * wide * cell, h: rows * tall * cell });
  drawWith(context, { strokeStyle: theme.background, lineWidth: 1 });
  const lines = (/** @type {number} */ count, /** @type {number} */ block, /** @type {number} */ start) =>
    Array.from({ length: block * cell < 8 ? 0 : count - 1 }, (_none, n) => start + (n + 1) * block * cell);
  strokeGrid(context, matrix, lines(rows, tall, matrix.y), lines(cols, wide, matrix.x));
  context.restore();
}

/** Pixels of the tile at work, row by row: its rows are queries, or lines where a line is a key. */
/** @param {TileScene} scene @param {boolean} byLine */
function tilePixels({ header, numbers, pixels, at }, byLine) {
  const [queries, keys] = tileSpans(header, at);
  const [down, across] = byLine && header.backward ? [keys, queries] : [queries, keys];
  const columns = across.to - across.from;
  const out = new Uint32Array((down.to - down.from) * columns);
  for (let i = 0; i < out.length; i++) {
    const [y, x] = [down.from + Math.floor(i / columns), across.from + (i % columns)];
    const [query, key] = down === queries ? [y, x] : [x, y];
    out[i] = pixels[numbers.codes[query * header.tokens + key]];
  }
  return { columns, pixels: out };
}

/** The tile at work: the only one that holds scores. */
/** @param {DrawingContext} context @param {TileScene} scene @param {Rectangle} matrix */
function drawTileAtWork(context, scene, matrix) {
  const { header, theme, at } = scene;
  const [queries, keys] = tileSpans(header, at);
  const place = spanRectangle(spanRectangle(matrix, queries, header.tokens, "y"), keys, header.tokens, "x");
  const { pixels, columns } = tilePixels(scene, false);
  fillBox(context, place, theme.background);
  context.hatch(place, header.colours.masked, theme.dark);
  context.cells(pixels, columns, place);
  outline(context, place, theme.primary, 2, theme.background);
}

/** Q, K, V and what is written, faint in slow memory, and full where they are in fast memory. */
/** @param {DrawingContext} context @param {TileScene} scene @param {MatrixLayout} layout */
function drawStrips(context, { header, theme, green, at }, layout) {
  const [queries, keys] = tileSpans(header, at);
  const out = header.backward ? { colour: theme.q, name: "dQ" } : { colour: green, name: "O" };
  /** @type {[Rectangle, Span, string, string, "x" | "y"][]} */
  const all = [
    [layout.q, queries, theme.q, "Q", "y"],
    [layout.k, keys, theme.k, "K", "x"],
    [layout.v, keys, green, "V", "x"],
    [layout.out, queries, out.colour, out.name, "y"],
  ];
  drawWith(context, { font: `600 12px ${theme.font}`, textBaseline: "middle", textAlign: "center" });
  for (const [place, span, colour, name, along] of all) {
    fillBox(context, place, colour, 0.22);
    if (name === "O")
      fillBox(context, spanRectangle(place, { from: 0, to: span.from }, header.tokens, along), colour, 0.55);
    fillBox(context, spanRectangle(place, span, header.tokens, along), colour);
    if (along === "y") context.fillText(name, place.x + place.w / 2, place.y - 11);
    else context.fillText(name, place.x - 11, place.y + place.h / 2);
  }
}

/** What each line keeps, as bars: of lines that are done, and of those at work. */
/** @param {DrawingContext} context @param {TileScene} scene @param {MatrixLayout} layout @param {number} which @param {string} name */
function drawKept(context, scene, layout, which, name) {
  const { header, theme, numbers, at } = scene;
  const place = layout.kept[which];
  const { lines } = tileLines(header, at);
  const { backward, tokens } = header;
  const kept = which ? numbers.second : numbers.first;
  const blocks = kept.length / tokens;
  if (backward) writeText(context, name, layout.matrix.x - 4, place.y + place.h / 2, theme, "11px", 1, "right");
  else writeText(context, name, place.x + place.w / 2, place.y - 11, theme, "11px", 1, "center");
  fillBox(context, place, theme.text, 0.06);
  fillBox(context, spanRectangle(place, lines, tokens, backward ? "x" : "y"), theme.primary, 0.16);
  const [deep, size] = backward ? [place.h, place.w / tokens] : [place.w, place.h / tokens];
  const by = Math.max(1, Math.floor(1 / size)); // of lines that are finer than a pixel not all are drawn
  const thick = by * size - (size > 3 ? 1 : 0);
  for (const [from, to, block, fillStyle, globalAlpha] of /** @type {const} */ ([
    [0, lines.from, blocks - 1, theme.text, 0.45],
    [lines.from, lines.to, header.tiles[at][backward ? 0 : 1], theme.primary, 1],
  ])) {
    context.beginPath();
    for (let line = from; line < to; line += by) {
      const long = deep * barShare(scene, which, kept[block * tokens + line]);
      if (backward) context.rect(place.x + line * size, place.y + place.h - long, thick, long);
      else context.rect(place.x, place.y + line * size, long, thick);
    }
    drawWith(context, { fillStyle, globalAlpha });
    context.fill();
  }
  context.globalAlpha = 1;
}

/** How long a bar is. @param {TileScene} scene @param {number} which @param {number} value */
function barShare({ ends: [low, high, most] }, which, value) {
  if (!Number.isFinite(value)) return 0;
  return which ? value / (most || 1) : (value - low) / (high - low || 1);
}

/** A number as the film writes it. @param {number} value */
function formatTileNumber(value) {
  return (Math.abs(value) < 0.1 ? formatSignificant(value, 2) : formatFixed(value, 2))
    .replace("-", "−")
    .replace("Infinity", "∞");
}

/** The tile at work, line by line; `chosen` is framed. */
/** @param {DrawingContext} context @param {TileScene} scene @param {TileLayout} layout @param {number} chosen */
export function drawTile(context, scene, layout, chosen) {
  const { header, theme, numbers, at } = scene;
  const { backward, words } = header;
  const { lines } = tileLines(header, at);
  const { cells, row, width } = layout;
  const place = { ...cells, h: row * (lines.to - lines.from) };
  const { pixels, columns } = tilePixels(scene, true);
  context.hatch(place, header.colours.masked, theme.dark);
  context.cells(pixels, columns, place);
  const size = sizeWithin(11, row);
  drawWith(context, { font: `600 ${size}px ${theme.font}`, fillStyle: theme.text });
  drawWith(context, { textBaseline: "middle", textAlign: "left" });
  const heads = backward ? [words.first, words.second] : [words.first, "×", words.second];
  context.fillText(backward ? "dSᵀ" : "S", place.x, 9);
  layout.columns.forEach((column, n) => context.fillText(heads[n], column.x, 9));
  for (let line = lines.from; line < lines.to; line++) {
    const y = cells.y + (line - lines.from) * row;
    drawLine(context, scene, layout, runningNumbers(header, numbers, at, line), y, size);
    if (line === chosen) outline(context, { x: 1, y, w: width - 2, h: row }, theme.primary, 1.5, theme.background);
  }
}

/**
 * @param {DrawingContext} context @param {TileScene} scene @param {TileLayout} layout
 * @param {ReturnType<typeof runningNumbers>} kept @param {number} y @param {number} size of numbers
 */
function drawLine(context, scene, { row, columns }, kept, y, size) {
  const { theme, header } = scene;
  const { was, before, first, second, factor, begins } = kept;
  const rises = !begins && (header.backward || factor < 1);
  const grown = (/** @type {number} */ from, /** @type {number} */ to) =>
    rises ? `${formatTileNumber(from)} → ${formatTileNumber(to)}` : formatTileNumber(to);
  /** @type {[number, string][]} */
  const shown = [
    [barShare(scene, 0, first), grown(was, first)],
    [barShare(scene, 1, second), header.backward ? grown(before, second) : formatTileNumber(second)],
  ];
  if (!header.backward) shown.splice(1, 0, begins ? [0, ""] : [factor, formatTileNumber(factor)]);
  const tall = row - (row > 4 ? 1 : 0);
  shown.forEach(([share, text], n) => {
    const { x, w } = columns[n];
    const colour = rises && !header.backward && n < 2 ? theme.primary : scene.grey;
    fillBox(context, { x, y, w: Math.max(0, share * w), h: tall }, colour, 0.3);
    if (row < 9) return;
    const weight = rises && n < 2 ? "600 " : "";
    drawWith(context, { font: `${weight}${size}px ${theme.font}`, fillStyle: theme.text });
    context.fillText(text, x + 3, y + row / 2);
  });
}

/** The step in a sentence. @param {TileRun} header @param {number} at */
export function describeStep(header, at) {
  const { words, tiles } = header;
  const [queries, keys] = tileSpans(header, at);
  const fields = { step: at + 1, total: tiles.length, q0: queries.from + 1, q1: queries.to, k0: keys.from + 1 };
  return fill(words.said, { ...fields, k1: keys.to });
}

/** What the tile at work does to a line, in its own numbers. */
/** @param {TileRun} header @param {TileNumbers} numbers @param {number} at @param {number} line */
export function describeLine(header, numbers, at, line) {
  const { words, backward } = header;
  const { was, before, first, second, factor, begins } = runningNumbers(header, numbers, at, line);
  const values = { was, before, first, second, factor, added: second - factor * before };
  const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, formatTileNumber(value)]));
  if (backward) {
    const grown = { second: texts.first, other: texts.second, before: texts.was, was: texts.before };
    return fill(begins ? words.start : words.line, { line: line + 1, ...grown });
  }
  const which = !Number.isFinite(first) ? "blind" : begins ? "start" : factor < 1 ? "line" : "same";
  return fill(words[which], { line: line + 1, ...texts });
}
