// Which part of the matrix a tile is, what its lines kept before and after it, and where everything stands.

import { clamp } from "../shared/numbers.js";

/** @import { Rectangle, TileRun } from "../shared/types.js" */
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

const [LEFT, TOP, STRIP, COLUMN, GAP] = [32, 58, 11, 26, 6];

/** The matrix with its strips around it, in CSS pixels. @param {number} width @param {boolean} backward */
export function matrixLayout(width, backward) {
  const side = Math.max(120, Math.min(390, width - LEFT - 3 * GAP - 4 - (backward ? STRIP : 2 * COLUMN + STRIP)));
  const [right, below] = [LEFT + side + GAP, TOP + side + GAP];
  /** @type {Rectangle[]} */
  const kept = [0, 1].map((n) =>
    backward
      ? { x: LEFT, y: below + n * (COLUMN + GAP), w: side, h: COLUMN }
      : { x: right + n * (COLUMN + GAP), y: TOP, w: COLUMN, h: side },
  );
  return {
    matrix: { x: LEFT, y: TOP, w: side, h: side },
    q: { x: LEFT - GAP - STRIP, y: TOP, w: STRIP, h: side },
    k: { x: LEFT, y: 22, w: side, h: STRIP },
    v: { x: LEFT, y: 6, w: side, h: STRIP },
    out: { x: backward ? right : right + 2 * (COLUMN + GAP), y: TOP, w: STRIP, h: side },
    kept,
    width: right + (backward ? STRIP : 2 * (COLUMN + GAP) + STRIP) + 4,
    height: backward ? below + 2 * (COLUMN + GAP) : TOP + side + GAP,
  };
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

/** How high the tile at work is drawn where there is room, and with how much it makes do. */
export const [HIGH, LOW] = [256, 144];

/** The tile at work, large, at most `high`: its cells, and a column for each number that a line keeps. */
/** @param {number} width @param {number} high @param {number} lines @param {boolean} backward */
export function tileLayout(width, high, lines, backward) {
  const row = clamp(high / lines, 1, 16);
  const cells = { x: 0, y: 20, w: Math.round(width * 0.4), h: row * lines };
  const shares = backward ? [0.5, 0.5] : [0.42, 0.2, 0.38];
  let x = cells.w + 8;
  const columns = shares.map((share) => {
    const w = share * (width - cells.w - 8) - 6;
    const column = { x, y: cells.y, w, h: cells.h };
    x += w + 6;
    return column;
  });
  return { row, cells, columns, width, height: cells.y + cells.h + 4 };
}
