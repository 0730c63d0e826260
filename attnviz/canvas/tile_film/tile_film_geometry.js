// Which part of the matrix a tile is, what its lines kept before and after it, and where everything stands.

import { letterSize, textWidth } from "../scene/text_width.js";
import { clamp } from "../shared/numbers.js";

/** @import { Rectangle, TileRun } from "../shared/types.js" */
/** @typedef {ReturnType<typeof filmLayout>} FilmLayout */
/** @typedef {{ codes: Uint8Array, first: Float32Array, second: Float32Array }} TileNumbers */
/** @typedef {{ from: number, to: number }} Span */

/** The numbers of a payload. @param {TileRun} header @param {Uint8Array} payload @returns {TileNumbers} */
export function readTileNumbers({ tokens, blocks, backward }, payload) {
  const size = tokens * tokens;
  const kept = Math.ceil(tokens / blocks[backward ? 0 : 1]) * tokens;
  const numbers = new Float32Array(payload.slice(size, size + 8 * kept).buffer);
  return { codes: payload.subarray(0, size), first: numbers.subarray(0, kept), second: numbers.subarray(kept) };
}

/** Queries and keys of a tile. @param {TileRun} header @param {number} at @returns {[Span, Span]} */
export function tileSpans({ tokens, blocks, tiles }, at) {
  const span = (/** @type {0 | 1} */ side) => {
    const from = tiles[at][side] * blocks[side];
    return { from, to: Math.min(tokens, from + blocks[side]) };
  };
  return [span(0), span(1)];
}

/** The tokens that keep two numbers each, and those across them. @param {TileRun} header @param {number} at */
export function tileLines(header, at) {
  const [queries, keys] = tileSpans(header, at);
  return header.backward ? { lines: keys, across: queries } : { lines: queries, across: keys };
}

/** What a line keeps after the tile at work, and what it kept before: of a block that it did not meet, what it had. */
/** @param {TileRun} header @param {TileNumbers} numbers @param {number} at @param {number} line */
export function runningNumbers({ tokens, tiles, backward }, numbers, at, line) {
  const after = tiles[at][backward ? 0 : 1] * tokens + line;
  const [first, second] = [numbers.first[after], numbers.second[after]];
  const was = after < tokens ? NaN : numbers.first[after - tokens];
  const begins = !Number.isFinite(was);
  const before = begins ? 0 : numbers.second[after - tokens];
  return { was, before, first, second, factor: begins || backward ? 1 : Math.exp(was - first), begins };
}

/** The line worth reading first: whose numbers the tile changes most. */
/** @param {TileRun} header @param {TileNumbers} numbers @param {number} at */
export function mostTellingLine(header, numbers, at) {
  const { lines } = tileLines(header, at);
  const changes = Array.from({ length: lines.to - lines.from }, (_none, n) => {
    const { was, first, second, factor, begins } = runningNumbers(header, numbers, at, lines.from + n);
    return header.backward
      ? first - (begins ? 0 : was)
      : begins
        ? Number.isFinite(first)
          ? second - 1e6
          : -1e9
        : -factor;
  });
  return lines.from + changes.indexOf(Math.max(...changes));
}

/** The step at which a tile is at work, -1 where it never is, by block of queries and of keys. @param {TileRun} header */
export function orderOf({ tokens, blocks, tiles }) {
  const across = Math.ceil(tokens / blocks[1]);
  const order = new Int32Array(Math.ceil(tokens / blocks[0]) * across).fill(-1);
  tiles.forEach(([row, col], step) => (order[row * across + col] = step));
  return order;
}

/** A strip of a matrix, and between two; around what stands in a memory; where the memories stand one below the other, or have little room. */
const [STRIP, GAP, PAD, NARROW, TIGHT] = [12, 5, 12, 620, 900];
/** Pixels of the memories at least and at most; of a lane of the race; of the door across. */
const [LEAST, MOST, LANE, DOOR] = [210, 430, 18, 44];
/** Pixels of slow memory above fast memory, and of that. */
const [UPRIGHT, BELOW_IT] = [250, 330];

/** Where strips of a matrix stand beside the scores, forward and backward: in slow memory, and in fast. */
const SIDES = {
  slow: [
    { above: ["V", "K"], left: ["Q"], right: ["O", "L"] },
    { above: ["V", "K", "dV", "dK"], left: ["Q", "dO"], right: ["dQ", "O", "L", "D"] },
  ],
  fast: [
    { above: ["V", "K"], left: ["Q"], right: ["O"] },
    { above: ["Q", "dO", "dQ"], left: ["K", "V"], right: ["dV", "dK"] },
  ],
};

/**
 * Strips beside a rectangle of scores. @param {Rectangle} cells @param {{ above: string[], left: string[], right: string[] }} sides
 * @param {number} right where those at its right begin
 */
function placeStrips({ x, y, w, h }, { above, left, right: others }, right) {
  /** @type {Record<string, Rectangle & { along: "x" | "y" }>} */
  const strips = {};
  above.forEach((name, n) => {
    const away = (above.length - n) * (STRIP + GAP);
    strips[name] = { x, y: y - labelHeight() - away + GAP, w, h: STRIP, along: "x" };
  });
  left.forEach((name, n) => {
    strips[name] = { x: x - (left.length - n) * (STRIP + GAP), y, w: STRIP, h, along: "y" };
  });
  others.forEach((name, n) => (strips[name] = { x: right + n * (STRIP + GAP), y, w: STRIP, h, along: "y" }));
  return strips;
}

function labelHeight() {
  return letterSize(12) + 6;
}

/**
 * Both memories with what lies in them, the door between them, and the race below, in CSS pixels.
 * @param {number} width @param {number} high of all of it, where there is a choice
 * @param {Pick<TileRun, "backward" | "blocks">} header
 */
export function filmLayout(width, high, { backward, blocks }) {
  const way = Number(backward);
  const isNarrow = width < NARROW;
  const [label, head] = [labelHeight(), letterSize(15) + 14];
  const race = 2 * (LANE + GAP) + label + (isNarrow ? 2 * label : 0);
  const tall = isNarrow ? BELOW_IT : clamp(high - race - PAD, LEAST, MOST);
  const room = (/** @type {"slow" | "fast"} */ memory) => {
    const { above, left, right } = SIDES[memory][way];
    const beside = Math.max(left.length * (STRIP + GAP), textWidth(backward ? "dV" : "V", 12, 600) + GAP);
    return {
      x: PAD + beside,
      y: head + above.length * (STRIP + GAP) + label,
      right: right.length * (STRIP + GAP) + PAD,
    };
  };
  const [slow, fast] = [room("slow"), room("fast")];
  const most = (isNarrow ? width : (width < TIGHT ? 0.36 : 0.46) * width) - slow.x - slow.right;
  const side = Math.max(60, Math.min(most, (isNarrow ? UPRIGHT : tall) - slow.y - label - PAD));
  if (isNarrow) slow.x += Math.max(0, (most - side) / 2);
  const slowBox = {
    x: 0,
    y: 0,
    w: isNarrow ? width : slow.x + side + slow.right,
    h: isNarrow ? slow.y + side + label + PAD : tall,
  };
  const between = isNarrow ? DOOR + 8 : Math.max(96, 8 * letterSize(13));
  const [x, y] = isNarrow ? [0, slowBox.h + between] : [slowBox.w + between, 0];
  const lines = blocks[way];
  const row = clamp((tall - fast.y - 2 * label - PAD) / lines, 1, 1.4 * letterSize(12));
  const box = { x, y, w: width - x, h: isNarrow ? fast.y + row * lines + 3 * label + PAD : tall };
  const inner = box.w - fast.x - fast.right;
  const cells = { x: x + fast.x, y: y + fast.y, w: Math.round(inner * (box.w < 420 ? 0.36 : 0.42)), h: row * lines };
  const shares = backward ? [0.5, 0.5] : [0.42, 0.2, 0.38];
  const left = cells.x + cells.w + GAP;
  const columns = shares.map((share, n) => {
    const before = shares.slice(0, n).reduce((sum, each) => sum + each, 0);
    const across = inner - cells.w - GAP;
    return { x: left + before * across, y: cells.y, w: share * across - GAP, h: cells.h };
  });
  const matrix = { x: slow.x, y: slow.y, w: side, h: side };
  const middle = isNarrow ? width / 2 : tall / 2;
  const bottom = Math.max(slowBox.h, box.y + box.h);
  return {
    isNarrow,
    slow: { box: slowBox, matrix, strips: placeStrips(matrix, SIDES.slow[way], matrix.x + side + GAP) },
    fast: { box, cells, row, columns, strips: placeStrips(cells, SIDES.fast[way], left + inner - cells.w - GAP) },
    door: isNarrow
      ? { x: middle - DOOR / 2, y: slowBox.h, w: DOOR, h: between }
      : { x: slowBox.w, y: middle - DOOR / 2, w: between, h: DOOR },
    race: { x: 0, y: bottom + PAD, w: width, h: race },
    lane: LANE,
    label,
    width,
    height: bottom + PAD + race,
  };
}

/** A stretch of tokens along a strip. @param {Rectangle} whole @param {Span} span @param {number} tokens @param {"x" | "y"} along */
export function spanRectangle(whole, { from, to }, tokens, along) {
  const size = (along === "x" ? whole.w : whole.h) / tokens;
  const [start, length] = [from * size, (to - from) * size];
  return along === "x" ? { ...whole, x: whole.x + start, w: length } : { ...whole, y: whole.y + start, h: length };
}

/** Of a tile's time: until its parts are in fast memory, and until its scores are there. */
export const [ARRIVED, COMPUTED] = [0.45, 0.75];

/** What is carried into fast memory for a tile and out of it after it, and whether its outputs are done. */
/** @param {Pick<TileRun, "backward" | "tiles">} header @param {number} at */
export function carried({ backward, tiles }, at) {
  const outer = backward ? 1 : 0;
  const begins = !at || tiles[at - 1][outer] !== tiles[at][outer];
  const ends = at === tiles.length - 1 || tiles[at + 1][outer] !== tiles[at][outer];
  if (backward)
    return { into: [...(begins ? ["K", "V"] : []), "Q", "dO", "dQ"], out: ["dQ", ...(ends ? ["dK", "dV"] : [])], ends };
  return { into: [...(begins ? ["Q"] : []), "K", "V"], out: ends ? ["O"] : [], ends };
}

/** Bytes through the door when a tile has come so far. @param {Pick<TileRun, "moved">} header @param {number} at @param {number} share */
export function bytesThrough({ moved }, at, share) {
  const [before, after] = [at ? moved[at - 1] : [0, 0], moved[at]].map(([read, written]) => read + written);
  return before + share * (after - before);
}

/** What is under way of the naive one when so many bytes have moved, null at its end. @param {Pick<TileRun, "naive">} header @param {number} bytes */
export function naiveAt({ naive }, bytes) {
  let sum = 0;
  return naive.find(([, , size]) => (sum += size) > bytes) ?? null;
}

/** The step at work at a point of the matrix, null where there is none. */
/** @param {TileRun} header @param {Int32Array} order @param {Rectangle} matrix @param {number} x @param {number} y */
export function stepAt({ tokens, blocks }, order, matrix, x, y) {
  const cell = (/** @type {number} */ share) => clamp(Math.floor(share * tokens), 0, tokens - 1);
  const row = Math.floor(cell((y - matrix.y) / matrix.h) / blocks[0]);
  const col = Math.floor(cell((x - matrix.x) / matrix.w) / blocks[1]);
  const step = order[row * Math.ceil(tokens / blocks[1]) + col];
  return step < 0 ? null : step;
}
