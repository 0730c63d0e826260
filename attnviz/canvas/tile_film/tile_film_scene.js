// The film of tiles as a drawing knows it: slow memory with what lies there and the matrix that is never built, a door, fast
// memory with the tile at work, line by line, and below both the bytes that have gone through, beside the naive way's. No page.

import { letterSize, sizeWithin, textWidth, wrapText } from "../scene/text_width.js";
import { css, mixColours, toPixel, ramp, readableColour, rgb } from "../shared/colour.js";
import { fill } from "../shared/dom.js";
import { clamp, formatBytes, formatFixed, formatSignificant } from "../shared/numbers.js";
import { ROLES } from "../shared/roles.js";
import { clipTo, drawWith, fillBox, frameBox, outline, strokeGrid, writeText } from "../shared/surface.js";
import {
  ARRIVED,
  bytesThrough,
  carried,
  COMPUTED,
  naiveAt,
  orderOf,
  runningNumbers,
  spanRectangle,
  tileLines,
  tileSpans,
} from "./tile_film_geometry.js";
import { describeMemory } from "./tile_film_memory.js";

/** @import { DrawingContext, Rectangle, Theme, TileRun } from "../shared/types.js" */
/** @import { FilmLayout, Span, TileNumbers } from "./tile_film_geometry.js" */

/** @typedef {ReturnType<typeof tileScene>} TileScene */

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
  return { header, numbers, at: header.at, share: 1, theme, order: orderOf(header), pixels, green, ends, grey };
}

/** All of the film at a moment; the line `chosen` is framed. */
/** @param {DrawingContext} context @param {TileScene} scene @param {FilmLayout} layout @param {number} chosen */
export function drawFilm(context, scene, layout, chosen) {
  drawSlow(context, scene, layout);
  drawFast(context, scene, layout, chosen);
  drawDoor(context, scene, layout);
  drawCarried(context, scene, layout);
  drawRace(context, scene, layout);
}

/** The colour of a matrix, as all pages have it. @param {TileScene} scene @param {string} name */
function colourOf({ theme, green }, name) {
  /** @type {Record<string, string>} */
  const own = { Q: theme.q, K: theme.k, V: green, O: green, S: ROLES.score, P: ROLES.weight };
  return own[name.replace("d", "")] ?? ROLES.reference;
}

/** The tokens of the tile at work along a strip. @param {TileScene} scene @param {string} name @returns {Span} */
function spanOf({ header, at }, name) {
  return tileSpans(header, at)["KV".includes(name.slice(-1)) ? 1 : 0];
}

/** A memory: its box, its name, the names of its strips. @param {DrawingContext} context @param {TileScene} scene @param {FilmLayout["slow"] | FilmLayout["fast"]} memory @param {string} name */
function drawMemory(context, scene, { box, strips }, name) {
  const { theme } = scene;
  fillBox(context, box, theme.secondary, 1, 10);
  writeText(context, name, box.x + 12, box.y + 6 + letterSize(15) / 2, theme, "600 15px");
  for (const [strip, { x, y, w, h, along }] of Object.entries(strips)) {
    const ink = { font: theme.font, text: readableColour(colourOf(scene, strip), theme.background) };
    if (along === "x") writeText(context, strip, x - 5, y + h / 2, ink, "600 12px", 1, "right");
    else writeText(context, strip, x + w / 2, y - 9, ink, "600 12px", 1, "center");
  }
}

/** @param {DrawingContext} context @param {TileScene} scene @param {FilmLayout} layout */
function drawSlow(context, scene, { slow, label }) {
  const { header, theme } = scene;
  const { matrix, strips, box } = slow;
  drawMemory(context, scene, slow, header.words.slow);
  const never = fill(header.words.never, {
    rows: header.tokens,
    cols: header.tokens,
    bytes: formatBytes(4 * header.tokens ** 2),
  });
  const [text] = wrapText(never, box.w - 24, 12);
  writeText(context, text, box.x + 12, matrix.y + matrix.h + 4 + label / 2, theme, "12px", 0.85);
  context.hatch(matrix, header.colours.masked, theme.dark);
  drawStates(context, scene, matrix);
  context.setLineDash([4, 4]);
  frameBox(context, matrix, 2, ROLES.reference);
  context.setLineDash([]);
  const [queries, keys] = tileSpans(header, scene.at);
  const work = spanRectangle(spanRectangle(matrix, queries, header.tokens, "y"), keys, header.tokens, "x");
  fillBox(context, work, theme.primary, 0.3);
  outline(context, work, theme.primary, 2, theme.background);
  for (const [name, strip] of Object.entries(strips)) {
    const colour = colourOf(scene, name);
    fillBox(context, strip, colour, 0.22);
    if (!isInput(scene, name)) {
      const { from, to } = spanOf(scene, name);
      const done = scene.share === 1 && carried(header, scene.at).ends ? to : from;
      fillBox(context, spanRectangle(strip, { from: 0, to: done }, header.tokens, strip.along), colour, 0.8);
    } else fillBox(context, spanRectangle(strip, spanOf(scene, name), header.tokens, strip.along), colour);
  }
}

/** Whether a matrix is read, and not only written once. @param {TileScene} scene @param {string} name */
function isInput({ header: { backward } }, name) {
  return backward ? !["dK", "dV"].includes(name) : !["O", "L"].includes(name);
}

/** @param {DrawingContext} context @param {TileScene} scene @param {FilmLayout} layout */
function drawDoor(context, { header, theme, at, share }, { door, isNarrow }) {
  const { words, moved } = header;
  const before = at ? moved[at - 1] : [0, 0];
  const [read, written] = [ARRIVED, 1].map((through, n) => formatBytes((share < through ? before : moved[at])[n]));
  fillBox(context, door, theme.secondary);
  const { x, y, w, h } = door;
  drawWith(context, { strokeStyle: theme.border, lineWidth: 2 });
  strokeGrid(context, door, isNarrow ? [] : [y, y + h], isNarrow ? [x, x + w] : []);
  const line = letterSize(13) + 4;
  const counts = [
    [read, words.read, "→"],
    [written, words.written, "←"],
  ];
  counts.forEach(([bytes, said, sign], n) => {
    const texts = [bytes, fill(said, { what: "" }).trim()];
    texts.forEach((text, below) => {
      const above = n ? h + (below + 0.7) * line : (below - 1.6) * line;
      const [left, up] = isNarrow ? [n ? w + 10 : -10, h / 2 + (below - 0.5) * line] : [w / 2, above];
      const side = isNarrow ? (n ? "left" : "right") : "center";
      writeText(context, text, x + left, y + up, theme, "600 13px", 1, side);
    });
    context.save();
    context.translate(x + w * (isNarrow ? 0.7 - 0.4 * n : 0.5), y + h * (isNarrow ? 0.5 : 0.3 + 0.4 * n));
    if (isNarrow) context.rotate(Math.PI / 2);
    writeText(context, sign, 0, 0, theme, "16px", 0.5, "center");
    context.restore();
  });
}

/** What is under way between the memories: along its way through the door, where it is no larger than the door. */
/** @param {DrawingContext} context @param {TileScene} scene @param {FilmLayout} layout */
function drawCarried(context, scene, { slow, fast, door }) {
  const { header, at, share } = scene;
  const { into, out } = carried(header, at);
  const middle = (/** @type {Rectangle} */ from, /** @type {Rectangle} */ to) => {
    const [w, h] = [Math.min(from.w, to.w, 34), Math.min(from.h, to.h, 34)];
    return { x: door.x + (door.w - w) / 2, y: door.y + (door.h - h) / 2, w, h };
  };
  const way = (/** @type {string} */ name, /** @type {number} */ done, /** @type {number} */ n, isOut = false) => {
    const home = slow.strips[name];
    const places = [spanRectangle(home, spanOf(scene, name), header.tokens, home.along), fastStrip(scene, fast, name)];
    const [from, to] = isOut ? places.reverse() : places;
    const eased = clamp(1.25 * done - 0.12 * n, 0, 1);
    const [one, other, part] =
      eased < 0.5 ? [from, middle(from, to), 2 * eased] : [middle(from, to), to, 2 * eased - 1];
    const grown = other === to ? part ** 3 : 1 - (1 - part) ** 3; // it has the door's size for most of the way
    const [w, h] = [one.w + grown * (other.w - one.w), one.h + grown * (other.h - one.h)];
    const along = (/** @type {"x" | "y"} */ side, /** @type {"w" | "h"} */ size) =>
      one[side] + one[size] / 2 + part * (other[side] + other[size] / 2 - one[side] - one[size] / 2);
    const place = { x: along("x", "w") - w / 2, y: along("y", "h") - h / 2, w, h };
    fillBox(context, place, colourOf(scene, name), 1, 2);
  };
  if (share < ARRIVED) into.forEach((name, n) => way(name, share / ARRIVED, n));
  else if (share > COMPUTED && share < 1)
    out.forEach((name, n) => way(name, (share - COMPUTED) / (1 - COMPUTED), n, true));
}

/** A strip in fast memory, as long as the tile. @param {TileScene} scene @param {FilmLayout["fast"]} fast @param {string} name */
function fastStrip({ header, at }, { strips, row }, name) {
  const { lines } = tileLines(header, at);
  const strip = strips[name];
  return strip.along === "x" ? strip : { ...strip, h: row * (lines.to - lines.from) };
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

/** Fast memory: the strips of the tile at work, its scores line by line, and what each line keeps. */
/** @param {DrawingContext} context @param {TileScene} scene @param {FilmLayout} layout @param {number} chosen */
function drawFast(context, scene, { fast, label, isNarrow }, chosen) {
  const { header, theme, numbers, at, share } = scene;
  const { backward, words } = header;
  const { lines } = tileLines(header, at);
  const { cells, row, columns, box } = fast;
  const memory = describeMemory(header, at);
  drawMemory(context, scene, fast, memory.fast);
  const { into } = carried(header, at);
  for (const name of Object.keys(fast.strips)) {
    const isHere = share >= ARRIVED || !into.includes(name);
    fillBox(context, fastStrip(scene, fast, name), colourOf(scene, name), isHere ? 1 : 0.2, 2);
  }
  const place = { ...cells, h: row * (lines.to - lines.from) };
  const { pixels, columns: across } = tilePixels(scene, true);
  const shown = clamp((share - ARRIVED) / (COMPUTED - ARRIVED), 0, 1);
  fillBox(context, place, theme.background);
  clipTo(context, { ...place, h: shown * place.h }, 0);
  context.hatch(place, header.colours.masked, theme.dark);
  context.cells(pixels, across, place);
  context.restore();
  const heads = backward ? [words.first, words.second] : [words.first, "×", words.second];
  writeText(context, backward ? "dSᵀ" : "S", place.x, cells.y - 9, theme, "600 12px");
  columns.forEach((column, n) => writeText(context, heads[n], column.x, cells.y - 9, theme, "600 12px"));
  const size = sizeWithin(12, row);
  for (let line = lines.from; line < lines.to && line - lines.from < shown * (lines.to - lines.from); line++) {
    const y = cells.y + (line - lines.from) * row;
    drawLine(context, scene, fast, runningNumbers(header, numbers, at, line), y, size);
    if (line !== chosen) continue;
    const end = columns[columns.length - 1];
    outline(context, { x: cells.x, y, w: end.x + end.w - cells.x, h: row }, theme.primary, 1.5, theme.background);
  }
  wrapText(memory.sum, box.w - 24, 12)
    .slice(0, isNarrow ? 3 : 2)
    .forEach((text, n) =>
      writeText(context, text, box.x + 12, cells.y + cells.h + 6 + (n + 0.5) * label, theme, "12px", 0.85),
    );
}

/**
 * @param {DrawingContext} context @param {TileScene} scene @param {FilmLayout["fast"]} fast
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
    if (row < letterSize(12)) return; // presented, small letters are none
    const weight = rises && n < 2 ? 600 : 400;
    const fits = textWidth(text, size, weight) < w - 3 || !text.includes("→");
    writeText(context, fits ? text : text.split("→ ")[1], x + 3, y + row / 2, theme, `${weight} ${size}px`);
  });
}

/** Both ways' bytes on one scale: what tiles move, and what the naive way has to; one line through both is what has moved. */
/** @param {DrawingContext} context @param {TileScene} scene @param {FilmLayout} layout */
function drawRace(context, scene, { race, lane, label, isNarrow }) {
  const { header, theme, at, share } = scene;
  const { words, naive } = header;
  const bytes = bytesThrough(header, at, share);
  const totals = raceTotals(header);
  const names = [words.tiled, words.naive];
  const counts = totals.map((total) =>
    fill(words.of, { bytes: formatBytes(Math.min(bytes, total)), all: formatBytes(total) }),
  );
  const widest = (/** @type {string[]} */ texts, /** @type {400 | 600} */ weight) =>
    Math.max(...texts.map((text) => textWidth(text, 13, weight)));
  const [left, right] = isNarrow ? [0, 0] : [widest(names, 600) + 12, widest(counts, 400) + 12];
  const scale = (race.w - left - right) / Math.max(...totals);
  const pitch = lane + 5 + (isNarrow ? label : 0);
  const top = (/** @type {number} */ n) => race.y + n * pitch + (isNarrow ? label : 0);
  names.forEach((name, n) => {
    const middle = isNarrow ? top(n) - label / 2 : top(n) + lane / 2;
    writeText(context, name, race.x, middle, theme, "600 13px");
    writeText(context, counts[n], race.x + race.w, middle, theme, "13px", 1, "right");
  });
  /** @param {number} n @param {number} from @param {number} size @param {string} colour */
  const bar = (n, from, size, colour) => {
    const place = { x: race.x + left + from * scale, y: top(n), w: size * scale, h: lane };
    fillBox(context, place, colour, 0.25);
    fillBox(context, { ...place, w: clamp(bytes - from, 0, size) * scale }, colour);
    return place;
  };
  bar(0, 0, totals[0], theme.primary);
  let sum = 0;
  for (const [name, written, size] of naive) {
    const { x, y, w, h } = bar(1, sum, size, colourOf(scene, name));
    fillBox(context, { x: x + w - 1, y, w: 1, h }, theme.background);
    const text = fill(written ? words.written : words.read, { what: name });
    if (textWidth(text, 12) < w - 4)
      writeText(context, text, x + w / 2, y + h + label / 2, theme, "12px", 0.85, "center");
    sum += size;
  }
  const x = race.x + left + Math.min(bytes, Math.max(...totals)) * scale;
  fillBox(context, { x: x - 1, y: top(0) - 3, w: 2, h: top(1) + lane - top(0) + 6 }, theme.text);
}

/** Bytes that tiles move, and that the naive way does. @param {Pick<TileRun, "moved" | "naive" | "tiles">} header */
export function raceTotals(header) {
  const last = header.tiles.length - 1;
  return [bytesThrough(header, last, 1), header.naive.reduce((sum, [, , size]) => sum + size, 0)];
}

/** How the race stands, in a sentence. @param {TileRun} header @param {number} at */
export function describeRace(header, at) {
  const { words } = header;
  const bytes = bytesThrough(header, at, 1);
  const [tiled, naive] = raceTotals(header);
  const fields = { bytes: formatBytes(bytes), tiled: formatBytes(tiled), naive: formatBytes(naive) };
  const times = formatSignificant(naive / tiled, 3);
  if (at === header.tiles.length - 1) return fill(tiled < naive ? words.won : words.lost, { ...fields, times });
  const now = naiveAt(header, bytes);
  if (!now) return fill(words.beaten, fields);
  return fill(now[1] ? words.writes : words.reads, { ...fields, name: now[0] });
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
