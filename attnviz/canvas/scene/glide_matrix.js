// A matrix glides to the next: its rows and columns by the positions in the text that they are of, and its colours.

import { interpolateNumberArray } from "./glide.js";

import { isSame } from "./glide.js";
import { mixPixels } from "../shared/colour.js";

/** More pixels than this are not mixed within a frame. */
const MOST_PIXELS = 300_000;

/**
 * Rows or columns: the positions in the text that each is of, and where they begin and end, from 0 to 1; null: all alike.
 * @typedef {{ keys: number[][], edges: number[] | null }} Side
 * @typedef {{ about: string, pixels: Uint32Array, sides: Side[] }} Matrix `about`: the text; one of another does not become it
 */

/** A matrix, each of whose cells is so many rows and columns. */
/** @param {string} about @param {Uint32Array} pixels @param {number[][][]} keys @param {number} step @returns {Matrix} */
export function glidingMatrix(about, pixels, keys, step = 1) {
  const sides = keys.map((all) => {
    const cells = Array.from({ length: Math.ceil(all.length / step) }, (_, i) => all.slice(i * step, (i + 1) * step));
    return { keys: step === 1 ? all : cells.map((some) => some.flat()), edges: null };
  });
  return { about, pixels, sides };
}

/** A matrix glides: its rows and columns to where those of the same positions will be, and its colours. */
/** @param {Matrix} from @param {Matrix} to @returns {((share: number) => Matrix) | null} */
export function matrixBetween(from, to) {
  if (from.about !== to.about) return null;
  const [rows, columns] = from.sides.map((side, at) => alignRows(side, to.sides[at]));
  if (rows.keys.length * columns.keys.length > MOST_PIXELS) return null;
  const [wide, wider] = [from, to].map(({ sides }) => sides[1].keys.length);
  const pixels = new Uint32Array(rows.keys.length * columns.keys.length);
  return (share) => {
    const parts = Math.round(256 * share);
    for (let row = 0, i = 0; row < rows.keys.length; row++) {
      const [here, there] = [rows.from[row] * wide, rows.to[row] * wider];
      for (let column = 0; column < columns.keys.length; column++, i++) {
        const [a, b] = [from.pixels[here + columns.from[column]], to.pixels[there + columns.to[column]]];
        // what the mask hides is transparent, and has no colour of its own
        pixels[i] = a === b ? a : mixPixels(a || b & 0xffffff, b || a & 0xffffff, parts);
      }
    }
    return { about: to.about, pixels, sides: [rows.at(share), columns.at(share)] };
  };
}

/** Each position's own row of two: whose pixels it has on both, and where it is on the way. @param {Side} from @param {Side} to */
function alignRows(from, to) {
  const alike = !from.edges && !to.edges && isSame(from.keys, to.keys);
  const places = alike ? [] : [rowPositions(from), rowPositions(to)];
  const positions = [...new Set(places.flatMap((side) => [...side.keys()]))].toSorted((a, b) => a - b);
  const keys = alike ? to.keys : positions.map((position) => [position]);
  const [here, there] = places.map((side) => {
    let last = { row: 0, end: 0 };
    return positions.map((position) => (last = side.get(position) ?? last));
  });
  const whose = (/** @type {typeof here} */ side) => Int32Array.from(keys, (_, i) => (alike ? i : side[i].row));
  const edges = alike
    ? null
    : interpolateNumberArray([0, ...here.map(({ end }) => end)], [0, ...there.map(({ end }) => end)]);
  const at = (/** @type {number} */ share) => ({ keys, edges: edges && edges(share).slice() });
  return { keys, from: whose(here), to: whose(there), at };
}

/** The row that each position is in, and where its share of that row ends. @param {Side} side */
function rowPositions({ keys, edges }) {
  /** @type {Map<number, { row: number, end: number }>} */
  const places = new Map();
  keys.forEach((positions, row) => {
    const [begin, end] = edges ? [edges[row], edges[row + 1]] : [row / keys.length, (row + 1) / keys.length];
    positions.forEach((position, n) =>
      places.set(position, { row, end: begin + ((end - begin) * (n + 1)) / positions.length }),
    );
  });
  return places;
}

/** A matrix as pixels, on the way so many of them that rows of any height are seen. @param {Matrix} matrix @param {number} wide @param {number} high */
export function matrixPixels({ pixels, sides }, wide, high) {
  const columns = sides[1].keys.length;
  if (sides.every(({ edges }) => edges === null)) return { pixels, columns };
  const [down, across] = [linesBelow(sides[0], high), linesBelow(sides[1], wide)];
  const out = new Uint32Array(wide * high);
  for (let y = 0; y < high; y++) {
    if (y && down[y] === down[y - 1]) out.copyWithin(y * wide, (y - 1) * wide, y * wide);
    else for (let x = 0; x < wide; x++) out[y * wide + x] = pixels[down[y] * columns + across[x]];
  }
  return { pixels: out, columns: wide };
}

/** The row below each of `n` pixels. @param {Side} side @param {number} n */
function linesBelow({ keys, edges }, n) {
  let row = 0;
  return Int32Array.from({ length: n }, (_, i) => {
    const at = (i + 0.5) / n;
    while (row < keys.length - 1 && at >= (edges ? edges[row + 1] : (row + 1) / keys.length)) row += 1;
    return row;
  });
}
