import assert from "node:assert/strict";
import { test } from "node:test";
import {
  filmLayout,
  mostTellingLine,
  runningNumbers,
  spanRectangle,
} from "../../attnviz/canvas/tile_film/tile_film_geometry.js";

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

for (const width of [280, 358, 714, 970, 1300])
  for (const backward of [false, true])
    for (const blocks of /** @type {[number, number][]} */ ([
      [16, 16],
      [128, 128],
    ]))
      test(`both memories, the door and the race stand apart in ${width} pixels: ${blocks[0]}${backward ? ", backward" : ""}`, () => {
        const { slow, fast, door, race, isNarrow, height } = filmLayout(width, 480, { backward, blocks });
        const inside = (/** @type {any} */ one, /** @type {any} */ box) =>
          one.x >= box.x && one.y >= box.y && one.x + one.w <= box.x + box.w + 1 && one.y + one.h <= box.y + box.h + 1;
        for (const { box, strips } of [slow, fast])
          for (const strip of Object.values(strips)) assert.ok(inside(strip, box));
        assert.ok(inside(slow.matrix, slow.box) && inside(fast.cells, fast.box));
        const along = isNarrow ? ["y", "h"] : ["x", "w"];
        const [from, size] = /** @type {["x" | "y", "w" | "h"]} */ (along);
        assert.ok(slow.box[from] + slow.box[size] <= door[from] && door[from] + door[size] <= fast.box[from]);
        assert.ok(fast.box.x + fast.box.w <= width && race.y + race.h <= height);
        const last = fast.columns[fast.columns.length - 1];
        assert.ok(
          fast.cells.x + fast.cells.w < fast.columns[0].x && last.x + last.w <= fast.strips[backward ? "dV" : "O"].x,
        );
        assert.equal(spanRectangle(slow.strips.Q, { from: 1, to: 3 }, 4, "y").h, slow.strips.Q.h / 2);
      });
