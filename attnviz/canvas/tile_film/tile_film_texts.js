// What the film of tiles says: of a step, of a line, and of what lies in which memory.

import { fill } from "../shared/dom.js";
import { binary } from "../shared/numbers.js";
import { keptBy, spansOf } from "./tile_film_geometry.js";
import { written } from "./tile_film_scene.js";

/** @import { TileRun } from "../shared/types.js" */
/** @import { TileNumbers } from "./tile_film_geometry.js" */

/** A matrix in a memory: its letter, "" of the one that is never built, and what is said of it. */
/** @typedef {{ name: string, text: string }} Chip */

const NUMBER = 4; // bytes of a float32

/** The step in a sentence. @param {TileRun} header @param {number} at */
export function describeStep(header, at) {
  const { words, tiles } = header;
  const [queries, keys] = spansOf(header, at);
  const fields = { step: at + 1, total: tiles.length, q0: queries.from + 1, q1: queries.to, k0: keys.from + 1 };
  return fill(words.said, { ...fields, k1: keys.to });
}

/** What the tile at work does to a line, in its own numbers. */
/** @param {TileRun} header @param {TileNumbers} numbers @param {number} at @param {number} line */
export function describeLine(header, numbers, at, line) {
  const { words, backward } = header;
  const { was, before, first, second, factor, begins } = keptBy(header, numbers, at, line);
  const values = { was, before, first, second, factor, added: second - factor * before };
  const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, written(value)]));
  if (backward) {
    const grown = { second: texts.first, other: texts.second, before: texts.was, was: texts.before };
    return fill(begins ? words.start : words.line, { line: line + 1, ...grown });
  }
  const which = !Number.isFinite(first) ? "blind" : begins ? "start" : factor < 1 ? "line" : "same";
  return fill(words[which], { line: line + 1, ...texts });
}

/** What lies in fast and in slow memory at a step, each matrix with its size. @param {TileRun} header @param {number} at */
export function describeMemory(header, at) {
  const { words, parts, slow, tokens, width, moved } = header;
  const [queries, keys] = spansOf(header, at).map(({ from, to }) => to - from);
  const size = { q: queries, k: keys, n: tokens, d: width, 1: 1 };
  const chip = (/** @type {string} */ name, /** @type {number} */ rows, /** @type {number} */ cols) => {
    const called = { max: words.first, sum: words.second }[name] ?? name;
    const fields = { name: called, rows, cols, bytes: binary(NUMBER * rows * cols) };
    return { name, text: fill(name ? words.part : words.never, fields) };
  };
  const total = parts.reduce((sum, [, rows, cols]) => sum + NUMBER * size[rows] * size[cols], 0);
  const [read, wrote] = moved[at];
  return {
    fast: fill(words.fast, { bytes: binary(total) }),
    fastChips: parts.map(([name, rows, cols]) => chip(name, size[rows], size[cols])),
    slow: fill(words.slow, { read: binary(read), written: binary(wrote) }),
    slowChips: [...slow.map(([name, rows, cols]) => chip(name, size[rows], size[cols])), chip("", tokens, tokens)],
  };
}

/** The colour of a matrix in a memory: its own, or else `other`. @param {TileRun} header @param {Chip} chip @param {string} other */
export function colourOfChip({ colours, green }, { name }, other) {
  return { Q: colours.q, K: colours.k, V: green, O: green }[name.replace("d", "")] ?? other;
}
