// Rows over patches: hidden keys get nothing, and patches are found under a point.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fitFrame, windowBorders } from "../../attnviz/canvas/patch_view/patch_scene.js";
import {
  followToken,
  meanOfHeads,
  meanOfRows,
  mixWithResidual,
  headRow,
  visibleKeys,
} from "../../attnviz/canvas/patch_view/patch_numbers.js";

const scores = Float32Array.from({ length: 25 }, (_, i) => Math.sin(i * 1.7) * 3);
const head = {
  shape: /** @type {[number, number]} */ ([5, 5]),
  exact: true,
  scores,
  scale: 0.5,
  dHead: 4,
  mask: new Uint8Array(25).fill(1),
  padding: null,
  bias: null,
  softcap: null,
  sink: null,
};
const grid = { rows: 2, columns: 2, first: 1 };

test("nobody looks at a hidden patch, and rows still sum to 1", () => {
  const row = headRow(head, 2, visibleKeys([0, 3], grid), 1);
  assert.equal(row[1], 0);
  assert.equal(row[4], 0);
  assert.ok(Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-6);
  assert.equal(visibleKeys([], grid), null);
});

test("the mean is over the rows of patches", () => {
  const rows = [1, 2, 3, 4].map((q) => headRow(head, q, null, 1));
  const mean = meanOfHeads(head, 1, null, 1);
  mean.forEach((value, k) => assert.ok(Math.abs(value - rows.reduce((sum, row) => sum + row[k], 0) / 4) < 1e-6));
});

test("what a token is made of is its row in the product of the layers' mixes, the residual stream included", () => {
  const seen = visibleKeys([1], grid);
  const rows = (/** @type {number} */ factor) => [0, 1, 2, 3, 4].map((q) => headRow(head, q, seen, factor));
  const [first, second] = [rows(1), rows(2)];
  const half = (/** @type {Float32Array[]} */ of, /** @type {number} */ q, /** @type {number} */ k) =>
    of[q][k] / 2 + (q === k ? 0.5 : 0);
  for (let q = 0; q < 5; q++) {
    const found = followToken([mixWithResidual(first), mixWithResidual(second)], q);
    for (let k = 0; k < 5; k++) {
      const expected = [0, 1, 2, 3, 4].reduce((sum, j) => sum + half(second, q, j) * half(first, j, k), 0);
      assert.ok(Math.abs(found[k] - expected) < 1e-6);
    }
  }
  assert.deepEqual(followToken([mixWithResidual(first)], 3), mixWithResidual(first)[3]);
  const blind = Array.from({ length: 5 }, () => new Float32Array(5)); // who may look at nothing stays what he is
  assert.deepEqual([...mixWithResidual(blind)[2]], [0, 0, 1, 0, 0]);
  assert.deepEqual([...meanOfRows([Float32Array.of(0.25, 0.75), Float32Array.of(0.75, 0.25)], 2)], [0.5, 0.5]);
});

test("windows meet where two neighbours lie in different ones, wherever they are moved", () => {
  const moved = (/** @type {number} */ at) => Math.floor(((at - 2 + 8) % 8) / 4);
  const expected = [1, 2, 3, 4, 5, 6, 7].filter((at) => moved(at) !== moved(at - 1));
  assert.deepEqual(windowBorders(4, 2, 8), expected);
  assert.deepEqual(windowBorders(4, 0, 8), [4]);
  assert.deepEqual(windowBorders(7, 3, 14), [3, 10]);
  assert.deepEqual(windowBorders(4, 0, 4), []);
});

test("the square that a model gets of a drawing is its ink, as high as it is, in the middle", () => {
  const cells = new Uint8Array(32 * 32);
  assert.equal(fitFrame(cells), null);
  for (let row = 8; row < 24; row++) cells.fill(1, row * 32 + 12, row * 32 + 20);
  assert.deepEqual(fitFrame(cells), { x: 8, y: 8, w: 16, h: 16 });
  cells.fill(1, 10 * 32, 11 * 32); // as wide as the field: its width decides
  const { x, y, w } = fitFrame(cells) ?? { x: 0, y: 0, w: 0 };
  assert.deepEqual([x, y, w].map(Math.round), [-5, -5, 43]);
});
