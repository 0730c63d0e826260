import assert from "node:assert/strict";
import { test } from "node:test";
import { newRows, countSoFar, stepOfRow } from "../../attnviz/canvas/step_player/step_player_scene.js";
import { stepSentence } from "../../attnviz/canvas/step_player/step_player_side.js";

/** @type {(context: number, flops: [number, number], difference: number) => any} */
const step = (context, flops, difference) => ({ context, flops, seconds: [0.1, 0.2], difference });
const STEPS = [step(5, [50, 50], 1e-6), step(6, [10, 60], 3e-6), step(7, [10, 70], 2e-6)];

test("a step adds the rows after those of the step before, and a row belongs to the step of its token", () => {
  assert.deepEqual(newRows(STEPS, 0), [0, 5]);
  assert.deepEqual(newRows(STEPS, 2), [6, 7]);
  assert.deepEqual(
    [0, 4, 5, 6, 7].map((row) => stepOfRow(STEPS, row)),
    [0, 0, 1, 2, 2],
  );
});

test("the headline counts the tokens in the cache once the step is done, as the bytes beside it do", () => {
  const words = { prefill: "{new} processed", decode: "{token}: {cached} in the cache" };
  const header = /** @type {any} */ ({ labels: [..."abcdefgh"], steps: STEPS, total: 3, words });
  assert.deepEqual(
    STEPS.map((_step, at) => stepSentence(header, at)),
    ["5 processed", "f: 6 in the cache", "g: 7 in the cache"],
  );
});

test("work adds up to the step on show, and the largest difference is kept", () => {
  const { flops, seconds, difference } = countSoFar(STEPS, 1);
  assert.deepEqual(flops, [60, 110]);
  assert.deepEqual(
    seconds.map((each) => Number(each.toFixed(6))),
    [0.2, 0.4],
  );
  assert.equal(difference, 3e-6);
});
