import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { nearestStep, shareOf } from "../../attnviz/canvas/birth/curves.js";
import { forward, meanLoss, patternScores, decodeSingles } from "../../attnviz/canvas/birth/forward.js";

const cases = JSON.parse(await readFile(new URL("cases/birth.json", import.meta.url), "utf8"));

/** @param {ArrayLike<number>} mine @param {number[]} theirs */
function near(mine, theirs, apart = 2e-6) {
  assert.equal(mine.length, theirs.length);
  theirs.forEach((value, i) => assert.ok(Math.abs(mine[i] - value) < apart, `${mine[i]} is not ${value}`));
}

test("the browser's pass is Python's", () => {
  assert.ok(cases.length >= 5);
  for (const { sizes, halves, ids, silenced, weights, likely, right, loss, scores } of cases) {
    const pass = forward(decodeSingles(new Uint16Array(halves)), ids, sizes, new Set(silenced));
    assert.equal(pass.weights.length, weights.length);
    weights.forEach((/** @type {number[]} */ each, /** @type {number} */ head) => near(pass.weights[head], each));
    near(pass.likely, likely);
    assert.deepEqual(pass.right, right);
    near([meanLoss(pass.likely)], [loss], 1e-5);
    near(
      pass.weights.flatMap((each) => Object.values(patternScores(each, ids))),
      scores.flat(),
    );
  }
});

test("a step is found again where it stands on the axis", () => {
  const steps = [0, 1, 8, 50, 433, 1500];
  for (const [place, step] of steps.entries()) assert.equal(nearestStep(steps, shareOf(step, 1500)), place);
  assert.equal(shareOf(0, 1500), 0);
  assert.equal(shareOf(1500, 1500), 1);
  assert.equal(nearestStep(steps, -3), 0);
  assert.equal(nearestStep(steps, 9), 5);
});
