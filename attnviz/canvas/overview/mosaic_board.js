// The tiles of all heads as one picture of pixels, the same on screen and in files.

import { mixedPixel, pixelOf, rgb } from "../shared/colour.js";
import { tilePixels } from "./mosaic_scene.js";

/** @import { MosaicScene } from "./mosaic_scene.js" */
/** @import { Rectangle } from "../shared/types.js" */
/** @typedef {{ pixels: Uint32Array, columns: number, place: Rectangle, codes: Uint8Array }} Board */
/** @typedef {{ first: number, shares: number[] }} Span cells below a pixel: of 256, how much each after the first takes from those before */

/**
 * All tiles with nothing between them, `fine` pixels for each of the page's; a pixel is the mean of the cells below it.
 * @param {MosaicScene} scene @param {Uint8Array} codes of all tiles, one after the other @param {number} fine
 * @param {Board | null} [before] of the same scene, which other tiles are painted over
 * @returns {Board}
 */
export function mosaicBoard({ header, theme, measured, mosaic: { places, tw, th } }, codes, fine, before = null) {
  const [h, w] = header.shape;
  const [x0, y0] = [0, 1].map((side) => Math.min(...places.map((place) => place[side])));
  const [wide, high] = [tw, th].map((size) => Math.max(1, Math.round(size * fine)));
  const corners = places.map(([x, y]) => [Math.round((x - x0) * fine), Math.round((y - y0) * fine)]);
  const columns = Math.max(...corners.map(([x]) => x)) + wide;
  const rows = Math.max(...corners.map(([, y]) => y)) + high;
  const pixels = before?.pixels ?? new Uint32Array(columns * rows);
  const [across, down] = [spansOf(w, wide), spansOf(h, high)];
  const table = tilePixels(header, theme);
  corners.forEach(([x, y], tile) => {
    const own = codes.subarray(tile * h * w, (tile + 1) * h * w);
    const old = before?.codes;
    if (old && own.every((code, i) => code === old[tile * h * w + i])) return;
    const cells = measured ? dimmed(table, rgb(theme.background), 0.25 + 0.75 * measured[tile]) : table;
    average(own, cells, across, down, pixels, y * columns + x, columns);
  });
  return { pixels, columns, codes, place: { x: x0, y: y0, w: columns / fine, h: rows / fine } };
}

/** Colours of which the page takes a part. @param {Uint32Array} table @param {import("../shared/types.js").Rgb} page @param {number} left */
function dimmed(table, page, left) {
  return table.map((pixel) => mixedPixel(pixelOf(page, pixel >>> 24), pixel, Math.round(256 * left)));
}

/** What lies below each of `n` pixels. @param {number} cells @param {number} n @returns {Span[]} */
function spansOf(cells, n) {
  return Array.from({ length: n }, (_, i) => {
    const [begin, end] = [(i * cells) / n, ((i + 1) * cells) / n - 1e-9];
    const first = Math.floor(begin);
    const rest = Array.from({ length: Math.ceil(end) - first - 1 }, (_none, more) => first + 1 + more);
    return {
      first,
      shares: rest.map((cell) =>
        Math.round((256 * (Math.min(cell + 1, end) - cell)) / (Math.min(cell + 1, end) - begin)),
      ),
    };
  });
}

/**
 * Paints a tile, whose lines are averaged first.
 * @param {Uint8Array} codes @param {Uint32Array} table @param {Span[]} across @param {Span[]} down
 * @param {Uint32Array} pixels @param {number} at its first pixel @param {number} columns
 */
function average(codes, table, across, down, pixels, at, columns) {
  const wide = across.length;
  const w = across[wide - 1].first + across[wide - 1].shares.length + 1;
  const lines = new Uint32Array((codes.length / w) * wide);
  across.forEach(({ first, shares }, x) => {
    for (let to = x, from = first; to < lines.length; to += wide, from += w) {
      let pixel = table[codes[from]];
      for (let n = 0; n < shares.length; n++) pixel = mixedPixel(pixel, table[codes[from + 1 + n]], shares[n]);
      lines[to] = pixel;
    }
  });
  down.forEach(({ first, shares }, y) => {
    const to = at + y * columns;
    pixels.set(lines.subarray(first * wide, (first + 1) * wide), to);
    shares.forEach((share, n) => {
      const from = (first + 1 + n) * wide;
      for (let x = 0; x < wide; x++) pixels[to + x] = mixedPixel(pixels[to + x], lines[from + x], share);
    });
  });
}
