import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { momentSentence } from "../../attnviz/canvas/birth/birth_scene.js";
import { stepTimes } from "../../attnviz/canvas/birth/curves.js";
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

test("a film is slow where curves move, and the moment is named in any run, wherever it lies", () => {
  const words = { born: "{head} at {step}", unborn: "none by {step}" };
  const [steps, flat] = [
    [0, 10, 20, 30, 40],
    [0, 0, 0, 0, 0],
  ];
  const run = (/** @type {number[]} */ induction, /** @type {number | null} */ moment) =>
    /** @type {any} */ ({
      ...{ steps, words, moment, names: ["0.0", "0.1"] },
      curves: { at: steps, loss_at: [0], losses: [4], previous: [flat, flat], induction: [flat, induction] },
    });
  const late = run([0, 0, 0, 1, 1], 30);
  const times = stepTimes(late);
  assert.deepEqual([times[0], times[4]], [0, 1]);
  assert.ok(times[3] - times[2] > 0.5);
  assert.deepEqual(
    [20, 30].map((reached) => momentSentence(late, reached)),
    ["", "0.1 at 30"],
  );
  assert.equal(momentSentence(run([1, 1, 1, 1, 1], 0), 0), "0.1 at 0");
  const never = run([0, 0, 0, 0, 0.2], null);
  assert.deepEqual(
    [30, 40].map((reached) => momentSentence(never, reached)),
    ["", "none by 40"],
  );
  assert.deepEqual(stepTimes({ ...never, steps: [40] }), [0]);
});
