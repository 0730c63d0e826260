import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { pairProduct, rotatedScore } from "../../attnviz/canvas/word_dial/rotation.js";

const cases = JSON.parse(await readFile(new URL("cases/rotation.json", import.meta.url), "utf8"));

test("pairs are turned as Python turns them", () => {
  assert.ok(cases.length >= 4);
  for (const { turns, q, k, pair, q_at, k_at, product, score: whole } of cases) {
    const mine = pairProduct(q[pair], k[pair], turns[pair], q_at, k_at);
    // Python turns pairs in float64 too
    assert.ok(Math.abs(mine - product) < 1e-9, `${mine} is not ${product}`);
    assert.ok(Math.abs(rotatedScore(q, k, turns, q_at, k_at) - whole) < 1e-9);
  }
});

test("the product depends on the distance alone", () => {
  const at = (shift) => pairProduct([1, 2], [-0.5, 3], 0.7, 12 + shift, 4 + shift);
  for (const shift of [1, 17, 4000]) assert.ok(Math.abs(at(shift) - at(0)) < 1e-9);
  assert.ok(Math.abs(pairProduct([1, 2], [-0.5, 3], 0.7, 12, 5) - at(0)) > 0.1);
});
