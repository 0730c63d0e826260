import assert from "node:assert/strict";
import { test } from "node:test";
import { largestOf, storyNumbers } from "../../attnviz/canvas/attention_story/story_numbers.js";

test("a row is scores, their softmax, and the mixture of its values; of equal ones the first is the largest", () => {
  const [n, width, row, q] = [6, 4, 4, [1, -2, 3, -1]];
  const vectors = Array.from({ length: n }, (_each, key) =>
    Array.from({ length: width }, (_, i) => Math.sin(1 + 7 * key + 3 * i)),
  );
  const matrix = new Array(n * n).fill(0);
  const payload = new Uint8Array(Float32Array.from([vectors, vectors, vectors, q, matrix].flat(3)).buffer);
  const tokens = vectors.map((_, key) => `word${key}`);
  const seen = tokens.map((_, key) => Number(key <= row));
  /** @type {any} what the picture asks of its header */
  const header = { tokens, starts: seen.map(Boolean), row, width, seen, changed: null };
  const { weights, vectors: made } = storyNumbers(header, payload, 0.5, width);
  const scores = vectors.map((key) => key.reduce((sum, value, i) => sum + value * q[i], 0));
  const shares = scores.map((score, key) => (key <= row ? Math.exp(0.5 * score) : 0));
  const total = shares.reduce((sum, share) => sum + share, 0);
  shares.forEach((share, key) => assert.ok(Math.abs(weights[key] - share / total) < 1e-6));
  made?.z.forEach((/** @type {number} */ value, /** @type {number} */ i) => {
    const expected = vectors.reduce((sum, each, key) => sum + (shares[key] / total) * each[i], 0);
    assert.ok(Math.abs(value - expected) < 1e-6);
  });
  assert.equal(made?.z.length, width);
  assert.equal(largestOf(Float32Array.of(0.2, 0.4, 0.4)), 1);
});
