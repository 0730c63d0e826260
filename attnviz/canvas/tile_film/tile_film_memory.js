// What lies in fast and in slow memory at a step, in words.

import { fill } from "../shared/dom.js";
import { formatBytes } from "../shared/numbers.js";
import { tileSpans } from "./tile_film_geometry.js";

/** @import { TileRun } from "../shared/types.js" */
/** @typedef {TileRun["parts"][number] | TileRun["slow"][number]} Part */

const NUMBER = 4; // bytes of a float32

/** What lies in fast and in slow memory at a step: fast memory's bytes in a line and as a sum, and each matrix with its size. */
/** @param {TileRun} header @param {number} at */
export function describeMemory(header, at) {
  const { words, parts, slow, tokens, width } = header;
  const [queries, keys] = tileSpans(header, at).map(({ from, to }) => to - from);
  const size = { q: queries, k: keys, n: tokens, d: width, 1: 1 };
  const called = (/** @type {string} */ name) => ({ max: words.first, sum: words.second })[name] ?? name;
  const bytes = (/** @type {Part} */ [, rows, cols]) => NUMBER * size[rows] * size[cols];
  const part = (/** @type {Part} */ each) =>
    fill(words.part, {
      name: called(each[0]),
      rows: size[each[1]],
      cols: size[each[2]],
      bytes: formatBytes(bytes(each)),
    });
  const never = fill(words.never, { bytes: formatBytes(NUMBER * tokens * tokens) });
  const fast = fill(words.fast, { bytes: formatBytes(parts.reduce((sum, each) => sum + bytes(each), 0)) });
  return {
    fast,
    sum: parts
      .map((each) => `${called(each[0])}\u00a0${formatBytes(bytes(each)).replaceAll(" ", "\u00a0")}`)
      .join(" + "),
    all: [fast, ...parts.map(part), words.slow, ...slow.map(part), never],
  };
}
