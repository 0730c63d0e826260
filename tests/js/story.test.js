import assert from "node:assert/strict";
import { test } from "node:test";
import { largestOf, storyNumbers } from "../../attnviz/canvas/attention_story/story_numbers.js";
import { storyMarks } from "../../attnviz/canvas/attention_story/story_scene.js";

const STAGES = [
  ...["words", "vectors", "asked", "roles", "scores", "scaled", "masked", "shares", "weights", "values", "mixture"],
  ...["new", "changed", "matrix"],
];
/** @type {[string, string]} */
const TINT = ["#808080", "#404040"];
const roles = Object.fromEntries(["x", "q", "k", "v", "scores", "plain"].map((role) => [role, TINT]));
/** @type {any} the colours that the scene asks for */
const theme = { text: "#000000", background: "#ffffff", q: "#0072b2", k: "#c05500", font: "sans-serif", dark: false };
const words = Object.fromEntries(
  ["query", "key", "value", "score", "weight", "hidden", "new_vector", "with_new", "with_old"].map((word) => [
    word,
    word,
  ]),
);

/** So many tokens with vectors of four, the last but one being the query. @param {number} n @param {boolean} alike */
function story(n, alike = false, scale = 0.5) {
  const [width, row] = [4, Math.max(0, n - 2)];
  const vectors = Array.from({ length: n }, (_each, key) =>
    Array.from({ length: width }, (_, i) => (alike ? 1 : Math.sin(1 + 7 * key + 3 * i))),
  );
  const matrix = Array.from({ length: n }, (_each, q) =>
    Array.from({ length: n }, (_, k) => (k > q ? -1 : 1 / (q + 1))),
  );
  const q = [1, -2, 3, -1];
  const payload = new Uint8Array(Float32Array.from([vectors, vectors, vectors, q, matrix].flat(3)).buffer);
  const tokens = Array.from({ length: n }, (_, key) => `word${key}`);
  const seen = tokens.map((_, key) => Number(key <= row));
  const changed = { at: 0, names: ["other", ...tokens.slice(1)], weights: tokens.map(() => 1 / n) };
  /** @type {any} what the picture asks of its header */
  const header = { tokens, starts: tokens.map((_, i) => i > 0), row, width, seen, changed };
  const numbers = storyNumbers(header, payload, scale, width);
  assert.ok(numbers.vectors);
  return { vectors, q, row, numbers, mixed: numbers.vectors.z };
}

/** The surroundings of a scene. @param {number} width @param {number} height */
const lookOf = (width, height, pair = 0) => ({
  ...{ width, height, pair, terms: 4, theme, words },
  colours: { masked: "#999999", roles },
});

test("a row is scores, their softmax, and the mixture of its values", () => {
  const { vectors, q, row, numbers, mixed } = story(6);
  const scores = vectors.map((key) => key.reduce((sum, value, i) => sum + value * q[i], 0));
  const shares = scores.map((score, key) => (key <= row ? Math.exp(0.5 * score) : 0));
  const total = shares.reduce((sum, share) => sum + share, 0);
  shares.forEach((share, key) => assert.ok(Math.abs(numbers.weights[key] - share / total) < 1e-6));
  mixed.forEach((value, i) => {
    const expected = vectors.reduce((sum, each, key) => sum + (shares[key] / total) * each[i], 0);
    assert.ok(Math.abs(value - expected) < 1e-6);
  });
});

test("every word and every strip is the same mark from the first stage to the last", () => {
  const { numbers } = story(6);
  const keysOf = (/** @type {string} */ stage) =>
    new Set(storyMarks(stage, numbers, lookOf(800, 500)).map(({ key }) => key));
  for (const stage of STAGES) {
    const keys = keysOf(stage);
    numbers.keys.forEach((key) => assert.ok(keys.has(`word-${key}`), `${stage}: word ${key}`));
    assert.equal(keys.size, storyMarks(stage, numbers, lookOf(800, 500)).length, `${stage}: no key twice`);
  }
  const shared = /** @type {[string, string, string[]][]} */ ([
    ["words", "vectors", ["strip-0"]],
    ["vectors", "roles", ["strip-0", "query"]],
    ["roles", "scores", ["strip-0", "query", "meets", "product"]],
    ["scores", "scaled", ["bar-0", "number-0"]],
    ["masked", "weights", ["bar-0", "part-0"]],
    ["values", "mixture", ["value-0", "new"]],
    ["mixture", "new", ["new"]],
    ["new", "matrix", ["strip-0"]],
  ]);
  for (const [from, to, marks] of shared) {
    for (const key of marks) assert.ok(keysOf(from).has(key) && keysOf(to).has(key), `${from} to ${to}: ${key}`);
  }
});

test("of equal ones the first is the largest", () => {
  assert.equal(largestOf(Float32Array.of(0.2, 0.4, 0.4)), 1);
});
