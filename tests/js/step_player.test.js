import assert from "node:assert/strict";
import { test } from "node:test";
import { tokensComputed } from "../../attnviz/canvas/cache_growth/brick_scene.js";
import { countSoFar } from "../../attnviz/canvas/step_player/step_player_scene.js";

test("work and computed tokens add up to the step on show, and the largest difference is kept", () => {
  /** @type {(context: number, flops: [number, number], difference: number) => any} */
  const step = (context, flops, difference) => ({ context, flops, seconds: [0.25, 0.5], difference });
  const steps = [step(5, [50, 50], 1e-6), step(6, [10, 60], 3e-6), step(7, [10, 70], 2e-6)];
  assert.deepEqual(countSoFar(steps, 1), { flops: [60, 110], seconds: [0.5, 1], difference: 3e-6 });
  assert.deepEqual(tokensComputed([5, 6, 7], 1), [6, 5 + 6]);
});
