import assert from "node:assert/strict";
import { test } from "node:test";
import { termMarks } from "../../attnviz/canvas/glossary_wall/term_pictures.js";

const THEME = /** @type {any} */ ({ text: "#000000", background: "#ffffff", secondary: "#eeeeee", font: "sans-serif" });
const NUMBERS = {
  ...{ low: 0.09, middle: 0.245, high: 0.665, scale: 0.125, choices: 8, even: Math.log(8), effective: 8 },
  ...{ bits: 1 / Math.log(2), words: 10, window: 4 },
};
const marksOf = (/** @type {string} */ id) => termMarks(id, NUMBERS, THEME);

test("masks are what they are called: as many open cells as the sentence of each says", () => {
  const open = (/** @type {string} */ id) => marksOf(id).filter(({ kind }) => kind === "strip").length;
  assert.equal(open("causal_mask"), 55);
  assert.equal(open("window"), 10 * 4 - (3 + 2 + 1));
});

test("bars of softmax are as high as their shares, and shared heads as few as they are", () => {
  const bars = marksOf("softmax").filter(({ kind }) => kind === "box");
  assert.ok(Math.abs(bars[2].h / bars[1].h - Math.E) < 0.03);
  const kv = (/** @type {string} */ id) => marksOf(id).filter(({ kind, y }) => kind === "disc" && y > 65).length;
  assert.deepEqual(["mha", "gqa", "mqa"].map(kv), [8, 2, 1]);
});
