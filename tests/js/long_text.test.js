// Weights of a long text's head against softmax written out, by the program of WebAssembly and without it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import wabt from "wabt";
import { ruleOf } from "../../attnviz/canvas/long_text/head_supply.js";
import { HeadWeights, logCodes } from "../../attnviz/canvas/long_text/tile_numbers.js";
import { NO_EDIT } from "../../attnviz/canvas/shared/edit.js";

/** @import { Rule } from "../../attnviz/canvas/long_text/tile_numbers.js" */

const text = await readFile(new URL("../../attnviz/canvas/shared/kernel.wat", import.meta.url), "utf8");
const kernel = /** @type {any} */ ((await wabt()).parseWat("kernel.wat", text, { simd: true }).toBinary({}).buffer);
const [N, WIDTH] = [301, 8];
let seed = 7;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647 - 0.5;
const [q, k] = [0, 1].map(() => Float32Array.from({ length: N * WIDTH }, () => 4 * random()));

/** All weights of a rule, in doubles; -1 where masked. @param {Rule} rule */
function wanted({ mask, window, factor }) {
  return Array.from({ length: N }, (_, row) => {
    const seen = (/** @type {number} */ key) =>
      (mask === "none" || key <= row) && (mask !== "window" || key > row - window);
    const raised = Array.from({ length: N }, (_none, key) => {
      let dot = 0;
      for (let d = 0; d < WIDTH; d++) dot += q[row * WIDTH + d] * k[key * WIDTH + d];
      return seen(key) ? Math.exp(dot * factor) : -1;
    });
    const sum = raised.reduce((all, value) => all + Math.max(0, value), 0);
    return raised.map((value) => (value < 0 ? -1 : value / sum));
  });
}

/** @param {Iterable<number>} made @param {number[]} right */
function areNear(made, right) {
  assert.equal([...made].length, right.length);
  [...made].forEach((value, i) => assert.ok(Math.abs(value - right[i]) < 2e-5, `${i}: ${value} is not ${right[i]}`));
}

/** @type {Rule[]} */
const rules = [
  { mask: "causal", window: 0, factor: 0.35 },
  { mask: "none", window: 0, factor: 1 },
  { mask: "window", window: 5, factor: 0.35 },
];
for (const program of [kernel, null])
  for (const rule of rules)
    test(`tiles, sketch and rows under ${rule.mask}, ${program ? "with" : "without"} WebAssembly`, () => {
      const all = wanted(rule);
      const head = new HeadWeights(N, WIDTH, program);
      head.take("q", 0, q);
      head.take("k", 0, k.subarray(0, 100 * WIDTH));
      head.take("k", 100, k.subarray(100 * WIDTH));
      const fine = head.tile(rule, 1, 1, 0); // the last 45 rows and the first 256 keys
      areNear(
        fine.weights,
        all.slice(256).flatMap((row) => row.slice(0, 256)),
      );
      assert.deepEqual([fine.rows, fine.columns], [45, 256]);
      const largest = (/** @type {number[]} */ rows, /** @type {number} */ key, step = 4) =>
        Math.max(...rows.flatMap((row) => all[row].slice(key, key + step)));
      const places = Array.from({ length: 76 }, (_, i) => 4 * i);
      const rowsFrom = (/** @type {number} */ start) => [0, 1, 2, 3].map((r) => start + r).filter((r) => r < N);
      const coarse = places.flatMap((row) => places.map((key) => largest(rowsFrom(row), key)));
      areNear(head.tile(rule, 4, 0, 0).weights, coarse);
      areNear(
        head.sketch(rule, 4).weights,
        places.flatMap((row) => places.map((key) => largest([row], key))),
      ); // of 301 the last is the first of its four
      const mean = all[20].map((_, key) => (Math.max(0, all[20][key]) + Math.max(0, all[21][key])) / 2);
      areNear(head.meanRow(rule, 20, 22), mean);
    });

test("a visitor's edit is a rule where the head is plain, and none where nothing is changed", () => {
  const head = /** @type {any} */ ({ plain: true, scale: 0.125, width: 64 });
  const rule = (/** @type {object} */ edit, now = head) => ruleOf({ ...NO_EDIT, ...edit }, now);
  assert.equal(rule({}), null);
  assert.equal(rule({ hidden: [3] }), null);
  assert.equal(rule({ mask: "none", seen: "before" }), null);
  assert.equal(rule({ mask: "none" }, { ...head, plain: false }), null);
  assert.deepEqual(rule({ mask: "none" }), { mask: "none", window: 0, factor: 0.125 });
  assert.deepEqual(rule({ mask: "window", window: 9, scale: "none" }), { mask: "window", window: 9, factor: 1 });
  assert.deepEqual(rule({ scale: "factor", factor: 2 }), { mask: "causal", window: 0, factor: 0.25 });
});

test("codes are even steps of the logarithm, and 0 where all is masked", () => {
  assert.deepEqual([...logCodes(Float32Array.from([-1, 0, 1e-5, 1e-4, 0.1, 1]))], [0, 1, 1, 52, 204, 255]);
});
