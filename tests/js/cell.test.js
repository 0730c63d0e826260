import assert from "node:assert/strict";
import { test } from "node:test";
import { cellBars, cellHeight, cellNumbers, cellSentence } from "../../attnviz/canvas/head/cell_scene.js";
import { NO_EDIT } from "../../attnviz/canvas/shared/edit.js";
import { products } from "../../attnviz/canvas/shared/raw_scores.js";

const [N, D] = [12, 3];
const vector = (seed) => Float32Array.from({ length: N * D }, (_, i) => Math.sin(seed + 1.7 * i));
const vectors = { q: vector(1), k: vector(5) };
const causal = Uint8Array.from({ length: N * N }, (_, i) => Number(i % N <= Math.floor(i / N)));
const HEAD = {
  ...{ shape: [N, N], exact: true, scale: 0.5, dHead: D, padding: null, bias: null, softcap: null, sink: null },
  ...{ mask: causal, vectors, scores: products(vectors.q, vectors.k, D) },
};
const NAMES = Array.from({ length: N }, (_, i) => `k${i}`);
const WORDS = {
  cell_masked: "{query} {key} {score} hidden",
  cell_sum: "{query} {key} {score} {factor} {scaled} {weight}",
};
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

test("a cell is told of by the numbers of its own row, under the edit", () => {
  for (const [edit, factor, open] of /** @type {const} */ ([
    [NO_EDIT, 0.5, 8],
    [{ ...NO_EDIT, scale: "none" }, 1, 8],
    [{ ...NO_EDIT, mask: "none" }, 0.5, N],
    [{ ...NO_EDIT, mask: "window", window: 4 }, 0.5, 4],
  ])) {
    const cell = cellNumbers(/** @type {any} */ (HEAD), edit, [7, 5], "me", NAMES);
    const dot = (k) => [0, 1, 2].reduce((sum, i) => sum + vectors.q[7 * D + i] * vectors.k[k * D + i], 0);
    const seen = NAMES.map((_, k) => k).filter((k) => cell.scaled[k] !== null);
    assert.equal(seen.length, open);
    const powers = seen.map((k) => Math.exp(factor * dot(k)));
    near(cell.score, dot(5));
    near(cell.scaled[5], factor * dot(5));
    near(cell.weights[5], Math.exp(factor * dot(5)) / powers.reduce((a, b) => a + b));
    const { product } = cellBars(cell);
    near(
      product.reduce((a, b) => a + b),
      cell.score,
    );
    assert.ok(cellHeight(cell) > 0);
  }
});

test("a masked cell says so, and one whose vectors did not come has its sum all the same", () => {
  const hidden = cellNumbers(/** @type {any} */ (HEAD), NO_EDIT, [2, 9], "me", NAMES);
  assert.equal(hidden.scaled[9], null);
  assert.match(cellSentence(hidden, WORDS), /^me k9 [−\d.]+ hidden$/);
  const coarse = cellNumbers(/** @type {any} */ ({ ...HEAD, vectors: null }), NO_EDIT, [7, 5], "me", NAMES);
  assert.equal(coarse.q, null);
  assert.ok(cellHeight(coarse) < cellHeight(cellNumbers(/** @type {any} */ (HEAD), NO_EDIT, [7, 5], "me", NAMES)));
  assert.match(cellSentence(coarse, WORDS), /^me k5 [−\d.]+ 0\.5 [−\d.]+ [\d.]+%$/);
});
