import assert from "node:assert/strict";
import { test } from "node:test";
import { mostTellingLine, runningNumbers } from "../../attnviz/canvas/tile_film/tile_film_geometry.js";

/** Five tokens in tiles of two queries and three keys, under a causal mask. */
const HEADER = /** @type {any} */ ({
  tokens: 5,
  blocks: [2, 3],
  backward: false,
  tiles: [
    [0, 0],
    [1, 0],
    [1, 1],
    [2, 0],
    [2, 1],
  ],
});
const FIRST = [1, 2, 1, 1, 0, 1, 2, 1, 3, 4].map(Number);
const SECOND = [1, 1, 2, 2, 3, 1, 1, 2, 1.5, 1.2];

test("a larger score rescales the sum, and the line that it changes most is told of", () => {
  const numbers = { codes: new Uint8Array(), first: Float32Array.from(FIRST), second: Float32Array.from(SECOND) };
  assert.ok(runningNumbers(HEADER, numbers, 1, 3).begins);
  const kept = runningNumbers(HEADER, numbers, 2, 3);
  assert.deepEqual([kept.was, kept.first, kept.before, kept.begins], [1, 3, 2, false]);
  assert.equal(kept.factor, Math.exp(-2));
  assert.equal(mostTellingLine(HEADER, numbers, 2), 3);
  assert.equal(runningNumbers(HEADER, numbers, 2, 2).factor, 1);
});

test("a line that has seen nothing begins at the tile where it sees something", () => {
  const first = Float32Array.from([-Infinity, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
  const kept = runningNumbers({ ...HEADER, tiles: [[0, 1]] }, { codes: new Uint8Array(), first, second: first }, 0, 0);
  assert.deepEqual([kept.begins, kept.factor, kept.before], [true, 1, 0]);
});
